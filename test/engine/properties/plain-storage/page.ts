// Pages and sort orders.
import type { Checkpoint } from '#domain/checkpoint';
import { unknownCursor, type Listing, type Page } from '#domain/page';

/** `matching` is a subset of `all`, in the same order; the cursor may name a row that the filter leaves out. */
export function paginate<T extends { id: string }>(
  all: readonly T[],
  matching: readonly T[],
  { after, limit }: Page,
): Listing<T> {
  const seen = after === null ? -1 : all.findIndex((row) => row.id === after);
  if (after !== null && seen < 0) throw unknownCursor(after);
  const rest = all.slice(seen + 1).filter((row) => matching.includes(row));
  return { rows: rest.slice(0, limit), hasMore: rest.length > limit };
}

export const bySteps = (checkpoints: readonly Checkpoint[], modelId: string): Checkpoint[] =>
  checkpoints.filter((each) => each.modelId === modelId).sort((a, b) => a.step - b.step);
