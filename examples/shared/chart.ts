// A chart for a terminal: one bar per step.

const WIDTH = 40;

export function bar(value: number): string {
  const filled = Math.max(0, Math.min(WIDTH, Math.round(value * WIDTH)));
  return '█'.repeat(filled) + '·'.repeat(WIDTH - filled);
}

/** `values` from 0 to 1, one row each. */
export function curve(title: string, values: readonly number[]): string {
  const rows = values.map((value, i) => `  ${String(i + 1).padStart(3)}  ${bar(value)} ${value.toFixed(3)}`);
  return [title, ...rows].join('\n');
}
