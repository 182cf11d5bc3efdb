// Refuses rows that would crash the graph or train on nonsense, with a clear message, before any work is done.
import { AppError } from '#domain/errors';
import type { TrainingRow } from '../../training-engine.ts';

export interface RowLimits {
  readonly rowLengthMax: number;
  readonly maxPositions: number;
  readonly vocab: number;
}

export function checkRow(row: TrainingRow, { rowLengthMax, maxPositions, vocab }: RowLimits): void {
  const { tokens, positions, segments, parents, predictFrom, targets, sequenceIds } = row;
  if (tokens.length === 0) throw refuse('it is empty');
  if (tokens.length > rowLengthMax) {
    throw refuse(`it has ${tokens.length} tokens, at most ${rowLengthMax} fit`);
  }
  if (positions.length !== tokens.length || segments.length !== tokens.length) {
    throw refuse(`${tokens.length} tokens, ${positions.length} positions and ${segments.length} segments must agree`);
  }
  if (predictFrom.length !== targets.length || sequenceIds.length !== targets.length) {
    throw refuse(
      `${targets.length} targets, ${predictFrom.length} places and ${sequenceIds.length} sequence ids must agree`,
    );
  }
  checkBelow('token', tokens, vocab);
  checkBelow('target', targets, vocab);
  checkBelow('position', positions, maxPositions);
  checkBelow('segment', segments, parents.length);
  checkBelow('place to predict from', predictFrom, tokens.length);
}

function checkBelow(what: string, values: Int32Array, limit: number): void {
  const at = values.findIndex((x) => x < 0 || x >= limit);
  if (at >= 0) throw refuse(`${what} ${values[at]} at index ${at} is not in [0, ${limit})`);
}

const refuse = (fault: string): AppError =>
  new AppError('invalid_request', `This training row cannot be used: ${fault}.`);
