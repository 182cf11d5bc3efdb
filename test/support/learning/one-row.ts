// The verbs of a session for one row, as most tests use them.
import type { LossProgram } from '#engine/loss-program';
import type { ForwardBackwardResult, TrainingRow, TrainingSession } from '#engine/training-engine';

export const rowLogprobs = async (session: TrainingSession, row: TrainingRow): Promise<Float32Array> =>
  (await session.logprobs([row]))[0]!;

export const trainRow = async (
  session: TrainingSession,
  row: TrainingRow,
  loss: LossProgram,
): Promise<ForwardBackwardResult> => (await session.forwardBackward([row], loss))[0]!;
