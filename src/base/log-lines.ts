// A line of the log for a person at a terminal: time, level where it is more than information, event, fields. Programs get JSON.

const LEVELS: Readonly<Record<number, string>> = { 20: 'debug ', 40: 'warning ', 50: 'error ' };

/** `line` is what pino writes. What is not that stays as it is. */
export function logLineForPeople(line: string): string {
  let entry: Readonly<Record<string, unknown>>;
  try {
    entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return line;
  }
  const { level, time, event, ...fields } = entry;
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value)}`,
  );
  return `${[`${clock} ${LEVELS[Number(level)] ?? ''}${String(event)}`, ...shown].join('  ')}\n`;
}
