// Checks that a policy still computes finite values. An update that is far too large can leave finite weights with which the model gives
// only NaN. The next gradient would reveal it, but after the last update there is none, so this is checked before a checkpoint is made.
import { AppError } from '#domain/errors';
import type { LossProgram } from '#engine/loss-program';
import type { TrainingRow, TrainingSession } from '#engine/training-engine';

/** A weight that overflows does so at any token, so a few dozen of them show it, in a small part of a gradient step's time. */
const TOKENS = 64;

/**
 * Throws `engine_failed` unless the loss is a number on the end of a row that was trained. It is computed with the loss of the job,
 * because that graph is already compiled; its gradient is not applied, so the session can only be saved or closed afterwards.
 */
export async function requireFinitePolicy(
  session: Pick<TrainingSession, 'forwardBackward'>,
  row: TrainingRow,
  loss: LossProgram,
  learningRate: number,
): Promise<void> {
  const { loss: value } = (await session.forwardBackward([endOf(row)], loss))[0]!;
  if (Number.isFinite(value)) return;
  throw new AppError(
    'engine_failed',
    `After the last gradient step the model's log-probabilities are not finite: the learning rate ${learningRate} is far too large. No checkpoint was made.`,
  );
}

/** The last tokens up to the last trained one, at their positions, as one sequence of their own. */
function endOf(row: TrainingRow): TrainingRow {
  const end = row.predictFrom.reduce((last, from) => Math.max(last, from), 0) + 1;
  const start = Math.max(0, end - TOKENS);
  const pick = <T extends Int32Array | Float32Array>(values: T): T =>
    values.filter((_, i) => row.predictFrom[i]! >= start) as T;
  return {
    tokens: row.tokens.slice(start, end),
    positions: row.positions.slice(start, end),
    segments: new Int32Array(end - start),
    parents: Int32Array.of(-1),
    predictFrom: pick(row.predictFrom).map((from) => from - start),
    targets: pick(row.targets),
    sequenceIds: pick(row.sequenceIds).fill(0),
    inputs: Object.fromEntries(Object.entries(row.inputs).map(([name, values]) => [name, pick(values)])),
  };
}
