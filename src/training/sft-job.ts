// The training loop of an SFT job, over the engine's verbs: adds up the gradients of a batch's rows, then makes one optimiser step.
import type { TrainingRow, TrainingSession } from '#engine/training-engine';
import { requireFinitePolicy } from './finite-policy.ts';
import { crossEntropyLoss } from './losses.ts';
import { sideBySide } from './side-by-side.ts';
import { finiteOnly, type StepMetrics } from './step-metrics.ts';
import type { SftPlan, SftRows } from './sft-plan.ts';

/** Yields after each batch: the caller decides whether to save, and whether to continue. Throws if the final policy gives values that are not finite. */
export async function* trainSft(
  session: TrainingSession,
  { batches, config }: Pick<SftPlan, 'batches' | 'config'>,
  firstBatch: number,
): AsyncGenerator<StepMetrics> {
  let last: { row: TrainingRow; learningRate: number } | null = null;
  for await (const { rows, rowCount, learningRate, epoch, trainedTokens } of batches(firstBatch)) {
    const startMs = performance.now();
    const sum = { loss: 0, tokens: 0, saved: 0 };
    for await (const group of sideBySide(rows(), session)) {
      const trained = group.map(({ row }) => weighted(row, trainedTokens));
      for (const { loss } of await session.forwardBackward(trained, crossEntropyLoss)) sum.loss += loss;
      for (const { tokens } of trained) sum.tokens += tokens.length;
      for (const { tokensSaved } of group) sum.saved += tokensSaved;
      last = { row: trained.at(-1)!, learningRate };
    }
    const { gradNorm } = await session.optimStep({ ...config.optimizer, learningRate });
    const seconds = (performance.now() - startMs) / 1000;
    yield finiteOnly({
      loss: sum.loss,
      grad_norm: gradNorm,
      learning_rate: learningRate,
      epoch,
      num_rows: rowCount,
      num_tokens: sum.tokens,
      num_trainable_tokens: trainedTokens,
      tokens_saved_by_sharing: sum.saved,
      tokens_per_second: sum.tokens / seconds,
    });
  }
  if (last) await requireFinitePolicy(session, last.row, crossEntropyLoss, last.learningRate);
}

/** Mean of −log π over the tokens with labels; NaN if there are none. Calls `goesOn` before each call of the session; returns null if it returned false. */
export async function evaluateSft(
  session: TrainingSession,
  { rows, trainedTokens }: SftRows,
  goesOn: () => Promise<boolean>,
): Promise<number | null> {
  let sum = 0;
  for await (const group of sideBySide(rows(), session)) {
    if (!(await goesOn())) return null;
    for (const ofRow of await session.logprobs(group.map(({ row }) => row))) {
      for (const logprob of ofRow) sum -= logprob;
    }
  }
  return sum / trainedTokens;
}

/** The loss is the mean over the trained tokens of the batch. */
const weighted = (row: TrainingRow, batchTokens: number): TrainingRow => ({
  ...row,
  inputs: { weights: new Float32Array(row.targets.length).fill(1 / batchTokens) },
});
