// The training loop of an RL job, over the engine's verbs. Knows nothing of storage, processes or time limits: the job
// runner hands in a session and is told about each gradient step before the next begins.
import type { TrainingSession } from '#engine/training-engine';
import { rowLearningRate } from './learning-rate.ts';
import { policyLoss } from './losses.ts';
import { withOtherPolicies, type OtherPolicies } from './other-policies.ts';
import type { RlPlan } from './rl-plan.ts';
import { finiteOnly, type StepMetrics } from './step-metrics.ts';

export interface RlRun {
  readonly plan: RlPlan;
  /** Rows before it are done. */
  readonly firstRow: number;
  readonly policies: OtherPolicies;
  /** Of the learning rate, for the whole job. */
  readonly learningRateScale: number;
}

/**
 * One optimiser step per row. Yields after each: the caller decides whether to save, and whether to go on.
 */
export async function* trainRl(
  session: TrainingSession,
  { plan, firstRow, policies, learningRateScale }: RlRun,
): AsyncGenerator<StepMetrics> {
  const { config, rows } = plan;
  const loss = policyLoss(config.loss);
  for (let index = firstRow; index < rows.length; index++) {
    const { row, sequenceCount, tokensSaved } = rows[index]!;
    const startMs = performance.now();
    const { loss: value, metrics } = await session.forwardBackward(withOtherPolicies(row, index, policies), loss);
    const learningRate = rowLearningRate(config, sequenceCount, learningRateScale);
    const { gradNorm } = await session.optimStep({ ...config.optimizer, learningRate });
    const seconds = (performance.now() - startMs) / 1000;
    yield finiteOnly({
      ...plan.rewards,
      ...plan.counts,
      loss: value,
      ...metrics,
      grad_norm: gradNorm,
      learning_rate: learningRate,
      num_sequences_in_row: sequenceCount,
      num_tokens: row.tokens.length,
      num_trained_tokens: row.targets.length,
      tokens_saved_by_sharing: tokensSaved,
      tokens_per_second: row.tokens.length / seconds,
    });
  }
}
