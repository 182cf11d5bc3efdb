// Which checkpoints of a model are kept when its owner limits their number: the rule of Transformers' `save_total_limit`. The newest and
// the best are kept, then the newest of the others up to the limit, plus any that are still in use. Works on numbers only;
// services/models/kept-checkpoints.ts finds out which are in use.
import type { Checkpoint } from './checkpoint.ts';

export interface SavePolicy {
  /** ≥ 1. */
  readonly totalLimit: number;
  /** A checkpoint metric, such as `val/reward`: the checkpoint with the best value is kept. Null: only age counts. */
  readonly bestMetric: string | null;
  readonly greaterIsBetter: boolean;
}

/** The default direction of a metric, as in Transformers. */
export const isGreaterBetter = (metric: string): boolean => !metric.endsWith('loss');

/** `checkpoints`: all of a model, in any order. Returns those to delete, oldest first. */
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

/** The oldest among equals; null if no checkpoint has the metric. */
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

/** For the event of the job after which they were deleted. */
export const toldDeletions = (steps: readonly number[]): { readonly deleted_checkpoints?: readonly number[] } =>
  steps.length > 0 ? { deleted_checkpoints: steps } : {};
