// Which checkpoints of a model stay, where its owner limits how many: the rule of Transformers' `save_total_limit`. The newest and the
// best stay, then the newest of the others up to the limit. What something still needs stays beside them. Knows numbers only; what is
// needed is said by services/models/kept-checkpoints.ts.
import type { Checkpoint } from './checkpoint.ts';

export interface SavePolicy {
  /** ≥ 1. */
  readonly totalLimit: number;
  /** Of checkpoints, such as `val/reward`: the best by it stays. Null: age alone counts. */
  readonly bestMetric: string | null;
  readonly greaterIsBetter: boolean;
}

/** As Transformers guesses where nobody says it. */
export const isGreaterBetter = (metric: string): boolean => !metric.endsWith('loss');

/** `checkpoints`: all of a model, in any order. Gives those that go, oldest first. */
export function surplusCheckpoints<Row extends Pick<Checkpoint, 'step' | 'metrics'>>(
  { totalLimit, bestMetric, greaterIsBetter }: SavePolicy,
  checkpoints: readonly Row[],
  isNeeded: (step: number) => boolean,
): readonly Row[] {
  const newestFirst = checkpoints.toSorted((a, b) => b.step - a.step);
  const best = bestMetric === null ? null : bestOf(newestFirst, bestMetric, greaterIsBetter);
  const kept = new Set([...newestFirst.slice(0, 1), ...(best ? [best] : [])]);
  for (const each of newestFirst) if (kept.size < totalLimit) kept.add(each);
  return newestFirst.filter((each) => !kept.has(each) && !isNeeded(each.step)).reverse();
}

/** Of equal ones the oldest; null: none has the metric. */
function bestOf<Row extends Pick<Checkpoint, 'metrics'>>(
  newestFirst: readonly Row[],
  metric: string,
  greaterIsBetter: boolean,
): Row | null {
  let best: { row: Row; value: number } | null = null;
  for (const row of newestFirst) {
    const value = row.metrics[metric];
    if (value === undefined) continue;
    if (!best || (greaterIsBetter ? value >= best.value : value <= best.value)) best = { row, value };
  }
  return best?.row ?? null;
}

/** For the event of a job with which they went. */
export const toldDeletions = (steps: readonly number[]): { readonly deleted_checkpoints?: readonly number[] } =>
  steps.length > 0 ? { deleted_checkpoints: steps } : {};
