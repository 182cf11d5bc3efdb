// Formats log lines for a person: time, level unless info, event, fields. Programs ask for JSON.
import { escapeUnseen } from './unseen-characters.ts';

const LEVELS: Readonly<Record<number, string>> = { 20: 'debug ', 40: 'warning ', 50: 'error ' };

/** `line` is a line of pino's; any other text stays as it is. Requests of others are logged, so no character may move the cursor. */
export function logLineForPeople(line: string): string {
  let entry: Readonly<Record<string, unknown>>;
  try {
    entry = JSON.parse(line) as Readonly<Record<string, unknown>>;
  } catch {
    return escapeUnseen(line);
  }
  const { level, time, event, ...fields } = entry;
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const tables = Object.values(fields).filter(isTable);
  const single = Object.entries(fields).filter(([, value]) => !isTable(value));
  const shown = single.map(
    ([name, value]) => `${name}=${typeof value === 'string' && !/[\s"=]/.test(value) ? value : JSON.stringify(value)}`,
  );
  const first = [`${clock} ${LEVELS[Number(level)] ?? ''}${String(event)}`, ...shown].join('  ');
  return escapeUnseen(`${[first, ...tables.flatMap(linesOf)].join('\n')}\n`);
}

type Row = Readonly<Record<string, string | number>>;

/** Objects in a list are shown below the line, one per line. */
const isTable = (value: unknown): value is readonly Row[] =>
  Array.isArray(value) && value.length > 0 && value.every((row) => typeof row === 'object' && row !== null);

function linesOf(rows: readonly Row[]): string[] {
  const names = Object.keys(rows[0]!);
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => String(row[name]).length)));
  const line = (cells: readonly (string | number)[]) =>
    cells.map((cell, i) => (typeof cell === 'number' ? String(cell).padStart(widths[i]!) : cell.padEnd(widths[i]!)));
  return [names, ...rows.map((row) => names.map((name) => row[name]!))].map((cells) =>
    `           ${line(cells).join('  ')}`.trimEnd(),
  );
}
