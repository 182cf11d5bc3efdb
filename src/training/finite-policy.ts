// Checks that a policy still computes finite values. An update that is far too large can leave finite weights with which the model gives
// only NaN. The next gradient would reveal it, but after the last update there is none, so this is checked before a checkpoint is made.
import { AppError } from '#domain/errors';
import type { LossProgram } from '#engine/loss-program';
import type { TrainingRow, TrainingSession } from '#engine/training-engine';

/**
 * Throws `engine_failed` unless the loss of the row is a number. It is computed as it was trained, because that graph is already
 * compiled; its gradient is not applied, so the session can only be saved or closed afterwards.
 */
export async function requireFinitePolicy(
  session: Pick<TrainingSession, 'forwardBackward'>,
  row: TrainingRow,
  loss: LossProgram,
  learningRate: number,
): Promise<void> {
  const { loss: value } = (await session.forwardBackward([row], loss))[0]!;
  if (Number.isFinite(value)) return;
  throw new AppError(
    'engine_failed',
    `After the last gradient step the model's log-probabilities are not finite: the learning rate ${learningRate} is far too large. No checkpoint was made.`,
  );
}
