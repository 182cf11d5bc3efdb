// How long rows may be, given what the client wants, what the longest sequence needs, and what the trainer supports.
import { gigabytes } from '#base/gigabytes';
import { AppError } from '#domain/errors';
import { rowMemoryOf, type TrainingLimits } from '#engine/training-engine';
import type { Sharing } from './row-layout.ts';

export interface RowBudget extends TrainingLimits {
  /** Absent: prefixes are shared. */
  readonly sharing?: Sharing;
}

/** The reference trainer's value. A row takes one optimiser step, so shorter rows would take more steps than its users expect. */
const ROW_LENGTH_DEFAULT = 2048;

/**
 * Tokens up to which rows are filled. `wanted` null: 2048, or what fits into memory. A longer sequence makes longer rows.
 * Throws `row_too_long` if that is more than the trainer supports.
 */
export function rowLengthFor(wanted: number | null, budget: RowBudget, longest: number): number {
  requireRoomFor(longest, budget);
  return Math.min(Math.max(wanted ?? ROW_LENGTH_DEFAULT, longest), budget.rowLengthMax);
}

/** The length of rows whose gradients are only added up: independent of the longest sequence, which gets a longer row of its own. */
export const filledLength = ({ rowLengthMax }: Pick<RowBudget, 'rowLengthMax'>): number =>
  Math.min(ROW_LENGTH_DEFAULT, rowLengthMax);

/** Throws `row_too_long`. */
export function requireRoomFor(longest: number, budget: RowBudget): void {
  if (longest > budget.rowLengthMax) {
    throw new AppError(
      'row_too_long',
      `The longest sequence of this job has ${longest} tokens: ${boundOn(longest, budget)}. Send shorter rollouts.`,
    );
  }
}

/** The warning to a client that asked for another length. */
export function rowLengthWarnings(wanted: number | null, budget: RowBudget, length: number): string[] {
  if (wanted === null || wanted === length) return [];
  const reason = length < wanted ? boundOn(wanted, budget) : 'the longest sequence of the job needs it';
  return [`packed_sequence_length became ${length} instead of ${wanted}: ${reason}.`];
}

/** Why there is no row of this length. */
function boundOn(tokens: number, { rowLengthMax, memory }: RowBudget): string {
  if (rowMemoryOf(rowLengthMax + 1, memory) <= memory.budgetBytes) {
    return `the trainer takes rows of at most ${rowLengthMax} tokens, whatever its memory`;
  }
  return (
    `training a row of ${tokens} tokens needs about ${gigabytes(rowMemoryOf(tokens, memory))}, and the trainer has ` +
    `${gigabytes(memory.budgetBytes)} for it, enough for ${rowLengthMax} tokens (--training-memory, of a worker --memory)`
  );
}
