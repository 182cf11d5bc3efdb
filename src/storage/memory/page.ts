// Pages and sort orders of the in-memory stores.
import type { Checkpoint } from '#domain/checkpoint';
import { PAGE_WEIGHT_MAX, unknownCursor, type Listing, type Order, type Page } from '#domain/page';

/** `matching` is a subset of `all`, in the same order; the cursor may name a row that the filter leaves out. */
export function paginate<T extends { id: string }>(
  all: readonly T[],
  matching: readonly T[],
  { after, limit }: Page,
  weigh: (row: T) => number = () => 0,
): Listing<T> {
  const seen = after === null ? -1 : all.findIndex((row) => row.id === after);
  if (after !== null && seen < 0) throw unknownCursor(after);
  const rest = all.slice(seen + 1).filter((row) => matching.includes(row));
  let weight = 0;
  const heavy = rest.findIndex((row, at) => (weight += weigh(row)) > PAGE_WEIGHT_MAX && at > 0);
  const count = heavy < 0 ? limit : Math.min(limit, heavy);
  return { rows: rest.slice(0, count), hasMore: rest.length > count };
}

export const inOrder = <T>(oldestFirst: readonly T[], order: Order): readonly T[] =>
  order === 'asc' ? oldestFirst : oldestFirst.toReversed();

export const bySteps = (checkpoints: readonly Checkpoint[], modelId: string): Checkpoint[] =>
  checkpoints.filter((each) => each.modelId === modelId).sort((a, b) => a.step - b.step);
