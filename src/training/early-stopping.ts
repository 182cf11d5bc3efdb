// Which of a job's evaluations on held-out rows is the best, and when training stops because they no longer improve. The rules are those
// of Transformers: any improvement is the new best; only one larger than the threshold restarts the patience count
// (EarlyStoppingCallback). Works on numbers only; services/jobs/attempt/held-out.ts evaluates and keeps weights.
import { isGreaterBetter } from '#domain/save-policy';
import type { HeldOutMetric } from '#domain/sft';
import type { StepMetrics } from './step-metrics.ts';

export interface EvaluationSchedule {
  /** Gradient steps between evaluations; the last step is always evaluated. */
  readonly everySteps: number;
  /** The metric that evaluations are compared by. */
  readonly metric: HeldOutMetric;
  /** Evaluations without improvement after which training stops; null: it never does. */
  readonly patience: number | null;
  /** An improvement counts only if it is larger than this. */
  readonly threshold: number;
  /** The checkpoint gets the weights of the best evaluation instead of the last step's. */
  readonly loadsBest: boolean;
}

/** State over the evaluations so far. */
export interface Standing {
  /** The gradient step, and its metrics. */
  readonly best: { readonly step: number; readonly metrics: StepMetrics } | null;
  /** Evaluations since the last improvement by more than the threshold. */
  readonly withoutImprovement: number;
}

export const NOTHING_EVALUATED: Standing = { best: null, withoutImprovement: 0 };

export const isEvaluated = ({ everySteps }: EvaluationSchedule, step: number, steps: number): boolean =>
  step % everySteps === 0 || step === steps;

/** Updates the state after the evaluation at this gradient step. A metric that is not a number is no improvement. */
export function judge(
  { metric, threshold }: Pick<EvaluationSchedule, 'metric' | 'threshold'>,
  { best, withoutImprovement }: Standing,
  step: number,
  metrics: StepMetrics,
): Standing {
  const value = metrics[metric] ?? NaN;
  const before = best?.metrics[metric];
  const sign = isGreaterBetter(metric) ? 1 : -1;
  const gain = before === undefined ? (Number.isFinite(value) ? Infinity : NaN) : sign * (value - before);
  return {
    best: gain > 0 ? { step, metrics } : best,
    withoutImprovement: gain > threshold ? 0 : withoutImprovement + 1,
  };
}

export const isStopped = (
  { patience }: Pick<EvaluationSchedule, 'patience'>,
  { withoutImprovement }: Standing,
): boolean => patience !== null && withoutImprovement >= patience;

/** A sentence for the job's last event. */
export function describeStop(
  { metric, threshold }: EvaluationSchedule,
  { best, withoutImprovement }: Standing,
): string {
  const by = threshold > 0 ? ` by more than ${threshold}` : '';
  const known = best
    ? `; the best was ${Number(best.metrics[metric]!.toPrecision(4))} at gradient step ${best.step}`
    : '';
  return `${metric} did not improve${by} in ${withoutImprovement} ${withoutImprovement === 1 ? 'evaluation' : 'evaluations'}${known}`;
}
