// The training loop of an RL job, over the engine's verbs. Knows nothing about storage, processes or time limits: the job runner passes
// in a session and is called after each gradient step, before the next begins.
import type { TrainingSession } from '#engine/training-engine';
import { watchPolicy, type PolicyMove } from './finite-policy.ts';
import { rowLearningRate } from './learning-rate.ts';
import { policyLoss } from './losses.ts';
import { withComparisonPolicies, type ComparisonPolicies } from './comparison-policies.ts';
import type { RlPlan } from './rl-plan.ts';
import { measureMismatch, mismatchMetrics, type SamplerMismatch } from './sampler-mismatch.ts';
import { meanStaleness, stalenessMetrics, tokenStaleness } from './staleness.ts';
import { finiteOnly, type StepMetrics } from './step-metrics.ts';

export interface RlRun {
  readonly plan: RlPlan;
  /** Rows before this one are done. */
  readonly firstRow: number;
  /** The step that the job starts from. */
  readonly startStep: number;
  readonly policies: ComparisonPolicies;
  /** Factor on the learning rate, for the whole job. */
  readonly learningRateScale: number;
  /** Measured before the first step. Null: it was not; the first row shows it. */
  readonly mismatch: SamplerMismatch | null;
  /** Receives the log-probabilities of each row's trained tokens as its loss read them, if the engine reports them. */
  readonly onLogprobs?: (row: number, logprobs: Float32Array) => void;
  /** Receives how far the last step moved the policy, if the engine reports log-probabilities. */
  readonly onMove?: (move: PolicyMove) => void;
}

/**
 * One optimiser step per row. Yields after each: the caller decides whether to save, and whether to continue. Throws if the final
 * policy gives values that are not finite.
 */
export async function* trainRl(
  session: TrainingSession,
  { plan, firstRow, startStep, policies, learningRateScale, mismatch, onLogprobs, onMove }: RlRun,
): AsyncGenerator<StepMetrics> {
  const { config, rows } = plan;
  const loss = policyLoss(config.loss);
  for (let index = firstRow; index < rows.length; index++) {
    const { row, members, sequenceCount, tokensSaved } = rows[index]!;
    const startMs = performance.now();
    const trained = withComparisonPolicies(row, index, policies);
    const watched = index === rows.length - 1 ? await watchPolicy(session, trained, loss) : null;
    const { loss: value, metrics, logprobs } = (await session.forwardBackward([trained], loss))[0]!;
    if (logprobs) onLogprobs?.(index, logprobs);
    const learningRate = rowLearningRate(config, sequenceCount, learningRateScale);
    const { gradNorm } = await session.optimStep({ ...config.optimizer, learningRate });
    const shown = mismatch ?? (logprobs && index === 0 ? firstRowMismatch(plan, startStep, logprobs) : null);
    const seconds = (performance.now() - startMs) / 1000;
    yield finiteOnly({
      ...plan.rewards,
      ...plan.counts,
      ...(shown ? mismatchMetrics(shown) : {}),
      ...stalenessMetrics(meanStaleness(members, startStep)),
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
    const move = await watched?.moved(logprobs, learningRate);
    if (move) onMove?.(move);
  }
}

/**
 * The mismatch of the first row, from the log-probabilities that its loss read: those of the starting weights, at no cost. Null: no step of
 * its tokens is known, so nothing tells the two engines from the policy.
 */
export function firstRowMismatch(
  { rows, config }: Pick<RlPlan, 'rows' | 'config'>,
  startStep: number,
  trainer: Float32Array,
): SamplerMismatch | null {
  const { row, members } = rows[0]!;
  const compared = { sampled: row.inputs['oldLogprobs']!, trainer, staleness: tokenStaleness(members, startStep) };
  const measured = measureMismatch([compared], config.loss);
  return measured?.knowsSteps ? measured : null;
}
