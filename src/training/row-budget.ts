// How long rows may be: what the client wants, what the model reads, what the memory for training holds.
import { AppError } from '#domain/errors';
import type { TrainingLimits } from '#engine/training-engine';

export type RowBudget = TrainingLimits;

/** Shorter rows waste optimiser steps on few tokens. */
const ROW_LENGTH_MIN = 512;
/** Attention costs the square of a row, most of it between strangers: beyond this, groups are cut rather than kept whole. */
const ROW_LENGTH_MAX = 2048;

/**
 * Tokens that rows are filled up to. `wanted` null: as the largest group needs, so that its prompt is computed once, within
 * 512 to 2048. A longer sequence makes longer rows. Throws `row_too_long` when that does not fit into memory.
 */
export function rowLengthFor(
  wanted: number | null,
  { rowLengthMax, memory }: RowBudget,
  groupSizes: readonly number[],
  longest: number,
): number {
  if (longest > rowLengthMax) {
    throw new AppError(
      'row_too_long',
      `The longest sequence of this job has ${longest} tokens: training it needs about ${gigabytes(bytesOf(longest, memory))}, ` +
        `this server has ${gigabytes(memory.budgetBytes)} for it, enough for ${rowLengthMax} tokens. ` +
        'Send shorter rollouts, or give the server more with --training-memory.',
    );
  }
  const largest = groupSizes.reduce((a, b) => Math.max(a, b), ROW_LENGTH_MIN);
  return Math.min(Math.max(wanted ?? Math.min(largest, ROW_LENGTH_MAX), longest), rowLengthMax);
}

/** Peak of the forward and backward pass over a row. */
export const bytesOf = (tokens: number, { fixedBytes, bytesPerToken, bytesPerPair }: RowBudget['memory']): number =>
  fixedBytes + tokens * bytesPerToken + tokens * tokens * bytesPerPair;

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;
