// The training loop of an RL job, over the engine's verbs. Knows nothing of storage, processes or time limits: the job
// runner hands in a session and is told about each gradient step before the next begins.
import type { TrainingSession } from '#engine/training-engine';
import { policyLoss } from './losses.ts';
import type { RlPlan } from './rl-plan.ts';

/** A flat map of name → number, as clients average it. */
export type StepMetrics = Readonly<Record<string, number>>;

/**
 * One optimiser step per row, from `firstRow` on. Yields after each: the caller decides whether to save, and whether to go
 * on.
 */
export async function* trainRl(session: TrainingSession, plan: RlPlan, firstRow: number): AsyncGenerator<StepMetrics> {
  const loss = policyLoss(plan.config.loss);
  for (const { row, sequenceCount } of plan.rows.slice(firstRow)) {
    const startMs = performance.now();
    const { loss: value, metrics } = await session.forwardBackward(row, loss);
    const { gradNorm } = await session.optimStep(plan.config.optimizer);
    const seconds = (performance.now() - startMs) / 1000;
    yield finiteOnly({
      ...plan.rewards,
      ...plan.counts,
      loss: value,
      ...metrics,
      grad_norm: gradNorm,
      learning_rate: plan.config.optimizer.learningRate,
      num_sequences_in_row: sequenceCount,
      num_tokens: row.tokens.length,
      tokens_per_second: row.tokens.length / seconds,
    });
  }
}

/** Clients call float() on every value: what is not a finite number is left out. */
const finiteOnly = (metrics: StepMetrics): StepMetrics =>
  Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)));
