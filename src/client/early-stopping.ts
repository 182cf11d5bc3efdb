// Decides when a loop of RL jobs ends because its model no longer improves, and which checkpoint is the best. The rules are those of
// `early_stopping_patience` in SFT and DPO jobs, and of Transformers: any improvement is the new best; an improvement by more than the
// threshold resets the count of evaluations. Knows only numbers; the loop evaluates and computes rewards.
import type { Checkpoint } from './model-wire.ts';

export interface EarlyStoppingOptions {
  /** Evaluations without improvement after which the loop ends. */
  readonly patience: number;
  /** An improvement must be greater than this. Default 0. */
  readonly threshold?: number;
  /** False for a loss. Default: true, for rewards. */
  readonly greaterIsBetter?: boolean;
}

export interface Evaluated {
  /** The checkpoint's step. */
  readonly step: number;
  readonly value: number;
}

export interface EarlyStopping {
  /** Call after each evaluation, with the checkpoint's step. Returns true if the loop should end. A missing value is no improvement. */
  report(step: number, value: number | null | undefined): boolean;
  /** The best so far; null: no value was a number. */
  readonly best: Evaluated | null;
  /** Evaluations since the last improvement by more than the threshold. */
  readonly withoutImprovement: number;
}

export function createEarlyStopping(options: EarlyStoppingOptions): EarlyStopping {
  const { patience, threshold = 0, greaterIsBetter = true } = options;
  if (!Number.isSafeInteger(patience) || patience < 1)
    throw new RangeError(`patience must be a whole number from 1, not ${patience}.`);
  if (!(threshold >= 0)) throw new RangeError(`threshold must be a number from 0, not ${threshold}.`);
  let [best, withoutImprovement]: [Evaluated | null, number] = [null, 0];
  return {
    report(step, value) {
      const gain = Number.isFinite(value) ? gainOf(value!, best, greaterIsBetter) : NaN;
      if (gain > 0) best = { step, value: value! };
      withoutImprovement = gain > threshold ? 0 : withoutImprovement + 1;
      return withoutImprovement >= patience;
    },
    get best() {
      return best;
    },
    get withoutImprovement() {
      return withoutImprovement;
    },
  };
}

/** The checkpoint with the best value of a metric; the oldest if several are equal; null: none has the metric. */
export async function bestCheckpoint(
  checkpoints: AsyncIterable<Pick<Checkpoint, 'step' | 'metrics'>>,
  metric: string,
  greaterIsBetter: boolean,
): Promise<Evaluated | null> {
  let best: Evaluated | null = null;
  for await (const { step, metrics } of checkpoints) {
    const value = metrics[metric];
    if (value !== undefined && gainOf(value, best, greaterIsBetter) > 0) best = { step, value };
  }
  return best;
}

function gainOf(value: number, best: Evaluated | null, greaterIsBetter: boolean): number {
  if (best === null) return Infinity;
  return greaterIsBetter ? value - best.value : best.value - value;
}
