// Times for people: how long ago, how long it took.

const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const;

/** `just now`, `5 min ago`, `3 h ago`, `2 d ago`; after a month the date. */
export function ago(time: string, nowMs: number = Date.now()): string {
  const seconds = (nowMs - Date.parse(time)) / 1000;
  if (seconds > 30 * 86_400) return time.slice(0, 10);
  const [length, unit] = UNITS.find(([each]) => seconds >= each) ?? [];
  return length === undefined ? 'just now' : `${Math.floor(seconds / length)} ${unit} ago`;
}

/** `0.4 s`, `48 s`, `12 min`, `3.2 h`. */
export function lasting(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}
