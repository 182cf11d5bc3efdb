// Looks at a policy after its last update, on a few dozen tokens of a row: whether it still computes finite values, and how far it moved. An
// update that is far too large can leave finite weights with which the model gives only NaN. The next gradient would reveal it, but after
// the last update there is none, so this is checked before a checkpoint is made.
import { AppError } from '#domain/errors';
import type { LossProgram } from '#engine/loss-program';
import type { TrainingRow, TrainingSession } from '#engine/training-engine';
import { sampleRow } from './row-sample.ts';

/** A weight that overflows does so at any token, so a few dozen of them show it, in a small part of a gradient step's time. */
const TOKENS = 64;

type Session = Pick<TrainingSession, 'forwardBackward'>;

/** Over the sampled targets, in nats. */
export interface PolicyMove {
  /** Estimate of the divergence of the policy before the update from the one after it: k3 of Schulman's "Approximating KL Divergence". */
  readonly divergence: number;
  /** Mean magnitude of the change of a log-probability. */
  readonly difference: number;
}

export interface WatchedPolicy {
  /**
   * After the update, and the last call of the session but `save` and `close`. `logprobs`: of the whole row's targets, as its gradient read
   * them. Throws `engine_failed` unless the policy is finite. Null: the engine reports no log-probabilities.
   */
  moved(logprobs: Float32Array | undefined, learningRate: number): Promise<PolicyMove | null>;
}

/**
 * Called before the gradient of the row. If the sample has not the context that it has in the row, its log-probabilities are computed
 * here as well, with weights of 0, so that no gradient is added. The job's loss computes them, because that graph is compiled.
 */
export async function watchPolicy(session: Session, row: TrainingRow, loss: LossProgram): Promise<WatchedPolicy> {
  const sample = sampleRow(row, TOKENS);
  const weights = new Float32Array(sample.trained.length);
  const muted = { ...sample.row, inputs: { ...sample.row.inputs, weights } };
  const cut = sample.isWhole ? undefined : (await session.forwardBackward([muted], loss))[0]!.logprobs;
  return {
    async moved(logprobs, learningRate) {
      const { logprobs: after } = await computeFinite(session, sample.row, loss, learningRate);
      const before = sample.isWhole ? logprobs && Float32Array.from(sample.trained, (i) => logprobs[i]!) : cut;
      return before && after ? moveBetween(before, after) : null;
    },
  };
}

/** The same without a measure of the move: nothing needs to be computed before the update. */
export async function requireFinitePolicy(
  session: Session,
  row: TrainingRow,
  loss: LossProgram,
  learningRate: number,
): Promise<void> {
  await computeFinite(session, sampleRow(row, TOKENS).row, loss, learningRate);
}

async function computeFinite(session: Session, row: TrainingRow, loss: LossProgram, learningRate: number) {
  const result = (await session.forwardBackward([row], loss))[0]!;
  if (Number.isFinite(result.loss)) return result;
  throw new AppError(
    'engine_failed',
    `After the last gradient step the model's log-probabilities are not finite: the learning rate ${learningRate} is far too large. No checkpoint was made.`,
  );
}

function moveBetween(before: Float32Array, after: Float32Array): PolicyMove {
  const changes = Array.from(after, (logprob, i) => logprob - before[i]!);
  const mean = (amount: (change: number) => number) =>
    changes.reduce((sum, change) => sum + amount(change), 0) / changes.length;
  return { divergence: mean((change) => Math.exp(change) - 1 - change), difference: mean(Math.abs) };
}
