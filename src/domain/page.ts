// Lists are read in pages, from a cursor on.
import { AppError } from './errors.ts';

export type Order = 'asc' | 'desc';

export interface Page {
  /** Id of the last row already seen. A list throws `unknownCursor` for an id that it does not have (any more). */
  readonly after: string | null;
  readonly limit: number;
}

/** `hasMore`: at least one row follows the last one given. */
export interface Listing<T> {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
}

/** An id is shorter; what somebody else sends is cut. */
const ID_SHOWN = 100;

/** An empty page would look like the end of the list. */
export const unknownCursor = (after: string): AppError =>
  new AppError(
    'invalid_request',
    `after: this list has no item ${JSON.stringify(after.slice(0, ID_SHOWN))} (any more). Leave after out to read the list from its beginning.`,
    { param: 'after' },
  );
