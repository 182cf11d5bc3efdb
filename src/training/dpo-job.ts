// The training loop of a DPO job, over the engine's verbs. The loss of a pair depends on all tokens of two sequences, which may lie
// in two rows, so a batch is read twice: first for log-probabilities, which give the derivative of the loss by the score of each answer
// (preference-loss.ts); then that derivative weighs every token in a plain cross-entropy, whose gradient is exactly the pair's. Any
// engine that trains SFT jobs can compute it.
import type { TrainingRow, TrainingSession } from '#engine/training-engine';
import type { DpoConfig } from './dpo-config.ts';
import { requireFinitePolicy } from './finite-policy.ts';
import { crossEntropyLoss } from './losses.ts';
import { comparePairs, type ScoredAnswers } from './preference-loss.ts';
import type { SftPlan, SftRows } from './sft-plan.ts';
import { sideBySide } from './side-by-side.ts';
import { finiteOnly, type StepMetrics } from './step-metrics.ts';

export type DpoPlan = SftPlan<DpoConfig>;

/** Scores of the answers under the job's starting policy: `[sequence]`, as in ScoredAnswers. */
export interface ReferenceScores {
  /** `[batch]`, for one epoch; later epochs have the same batches. */
  readonly batches: readonly Float64Array[];
  readonly validation: Float64Array;
}

/** Calls `goesOn` before each call of the session. Null: it returned false. */
export async function scoreReference(
  session: Pick<TrainingSession, 'logprobs' | 'rowsAtOnce'>,
  { batches, steps, config, validation }: DpoPlan,
  goesOn: () => Promise<boolean>,
): Promise<ReferenceScores | null> {
  const scored: Float64Array[] = [];
  const inEpoch = steps / config.epochs;
  if (inEpoch > 0) {
    for await (const batch of batches(0)) {
      const answers = await scoreAnswers(session, batch, goesOn);
      if (!answers) return null;
      if (scored.push(answers.scores) === inEpoch) break;
    }
  }
  const validated = await scoreAnswers(session, validation, goesOn);
  return validated && { batches: scored, validation: validated.scores };
}

/** Yields after each batch, as trainSft. Throws if the final policy gives values that are not finite. */
export async function* trainDpo(
  session: TrainingSession,
  { batches, config }: Pick<DpoPlan, 'batches' | 'config'>,
  reference: ReferenceScores,
  firstBatch: number,
): AsyncGenerator<StepMetrics> {
  let last: { row: TrainingRow; learningRate: number } | null = null;
  let place = firstBatch;
  for await (const { rows, learningRate, epoch, trainedTokens } of batches(firstBatch)) {
    const startMs = performance.now();
    const policy = (await scoreAnswers(session, { rows }))!;
    const compared = reference.batches[place++ % reference.batches.length]!;
    const { loss, slopes, metrics } = comparePairs(policy, compared, config.loss);
    const sum = { sequences: 0, tokens: 0, saved: 0 };
    for await (const group of sideBySide(rows(), session)) {
      const trained: TrainingRow[] = [];
      for (const { row, sequenceCount, tokensSaved } of group) {
        trained.push(sloped(row, slopes.subarray(sum.sequences, sum.sequences + sequenceCount)));
        sum.sequences += sequenceCount;
        sum.tokens += row.tokens.length;
        sum.saved += tokensSaved;
      }
      await session.forwardBackward(trained, crossEntropyLoss);
      last = { row: trained.at(-1)!, learningRate };
    }
    const { gradNorm } = await session.optimStep({ ...config.optimizer, learningRate });
    const seconds = (performance.now() - startMs) / 1000;
    yield finiteOnly({
      loss,
      ...metrics,
      grad_norm: gradNorm,
      learning_rate: learningRate,
      epoch,
      num_pairs: slopes.length / 2,
      num_tokens: sum.tokens,
      num_trainable_tokens: trainedTokens,
      tokens_saved_by_sharing: sum.saved,
      tokens_per_second: sum.tokens / seconds,
    });
  }
  if (last) await requireFinitePolicy(session, last.row, crossEntropyLoss, last.learningRate);
}

/** Loss and rewards of the held-out pairs; NaN if there are none. `goesOn` as in scoreReference. */
export async function evaluateDpo(
  session: TrainingSession,
  { validation, config }: Pick<DpoPlan, 'validation' | 'config'>,
  reference: ReferenceScores,
  goesOn?: () => Promise<boolean>,
): Promise<StepMetrics | null> {
  const policy = await scoreAnswers(session, validation, goesOn);
  if (!policy) return null;
  const { loss, metrics } = comparePairs(policy, reference.validation, config.loss);
  return { loss, ...metrics };
}

/** Null: `goesOn` returned false. */
async function scoreAnswers(
  session: Pick<TrainingSession, 'logprobs' | 'rowsAtOnce'>,
  { rows }: Pick<SftRows, 'rows'>,
  goesOn?: () => Promise<boolean>,
): Promise<ScoredAnswers | null> {
  const answers: { score: number; length: number }[] = [];
  for await (const group of sideBySide(rows(), session)) {
    if (goesOn && !(await goesOn())) return null;
    const scored = group.map(({ row }) => row);
    const logprobs = await session.logprobs(scored);
    for (const [r, { sequenceIds }] of scored.entries()) {
      const ofRow = Array.from({ length: group[r]!.sequenceCount }, () => ({ score: 0, length: 0 }));
      sequenceIds.forEach((sequence, token) => {
        ofRow[sequence]!.score += logprobs[r]![token]!;
        ofRow[sequence]!.length++;
      });
      answers.push(...ofRow);
    }
  }
  return {
    scores: Float64Array.from(answers, ({ score }) => score),
    lengths: Uint32Array.from(answers, ({ length }) => length),
  };
}

/** The row with −∂loss/∂log π of each token as its weight. */
const sloped = (row: TrainingRow, slopes: Float64Array): TrainingRow => ({
  ...row,
  inputs: { weights: Float32Array.from(row.sequenceIds, (sequence) => -slopes[sequence]!) },
});
