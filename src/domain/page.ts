// Pagination: lists are read in pages that start after a cursor.
import { AppError } from './errors.ts';

export type Order = 'asc' | 'desc';

export interface Page {
  /** Id of the last row already seen. A list throws `unknownCursor` for an id that is not (or no longer) in it. */
  readonly after: string | null;
  readonly limit: number;
}

/**
 * Rows of a page may differ in size by a factor of a thousand: a page ends before the row that would make it heavier than this, but has
 * one row at least. In bytes of the answer, roughly.
 */
export const PAGE_WEIGHT_MAX = 4_000_000;

/** Lists are counted only this far, so that a long one costs no more than a page of it: one more means that there are more. */
export const COUNTED_MAX = 10_000;

/** `hasMore`: at least one more row follows the last one returned, or may follow. */
export interface Listing<T> {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
  /** Where the next page starts; undefined: after the last row. A search that stops early has looked at rows that it does not return. */
  readonly cursor?: string | undefined;
}

/** Longer than any real id; what a client sends beyond it is cut off in messages. */
const ID_SHOWN = 100;

/** Returning an empty page instead would look like the end of the list. */
export const unknownCursor = (cursor: string, field = 'after'): AppError =>
  new AppError(
    'invalid_request',
    `${field}: this list has no item ${JSON.stringify(cursor.slice(0, ID_SHOWN))}, or no longer has it. Omit "${field}" to read the list from its beginning.`,
    { param: field },
  );
