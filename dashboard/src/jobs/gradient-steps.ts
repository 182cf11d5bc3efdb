// Gradient steps of a job as series: one list of values per metric.
import type { JobEvent } from '../api/events.ts';

export interface StepSeries {
  readonly steps: readonly number[];
  /** By metric, the most commonly read ones first. */
  readonly series: ReadonlyMap<string, readonly (number | null)[]>;
}

const FIRST = ['reward', 'loss', 'kl', 'entropy', 'grad_norm', 'learning_rate'];

export function stepSeries(events: readonly JobEvent[]): StepSeries {
  const rows = events.flatMap(({ type, data }) => (type === 'gradient_step' ? [data] : []));
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'gradient_step');
  const series = names.sort(byInterest).map((name) => [name, rows.map((row) => numberOf(row[name]))] as const);
  return { steps: rows.map((row, at) => numberOf(row['gradient_step']) ?? at + 1), series: new Map(series) };
}

const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** Well-known metrics first, then by name. */
export function byInterest(a: string, b: string): number {
  const rank = (name: string) => {
    const at = FIRST.findIndex((known) => name === known || name.endsWith(`/${known}`));
    return at === -1 ? FIRST.length : at;
  };
  return rank(a) - rank(b) || a.localeCompare(b);
}
