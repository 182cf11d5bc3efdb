// Whether a policy still computes. An update that is far too large leaves weights that are finite and a model that gives
// nothing but NaN: seen by the next gradient, but after the last update there is none. Asked before a checkpoint is made.
import { AppError } from '#domain/errors';
import type { LossProgram } from '#engine/loss-program';
import type { TrainingRow, TrainingSession } from '#engine/training-engine';

/**
 * Throws `engine_failed` unless the loss of the row is a number. It is computed once more as it was trained, because the graph
 * for that is compiled already; its gradient is not applied, so the session can only be saved or closed after it.
 */
export async function requireFinitePolicy(
  session: Pick<TrainingSession, 'forwardBackward'>,
  row: TrainingRow,
  loss: LossProgram,
  learningRate: number,
): Promise<void> {
  const { loss: value } = await session.forwardBackward(row, loss);
  if (Number.isFinite(value)) return;
  throw new AppError(
    'engine_failed',
    `After the last gradient step the model's log-probabilities are not finite: the learning rate ${learningRate} is far too large. No checkpoint was made.`,
  );
}
