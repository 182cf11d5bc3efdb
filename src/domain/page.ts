// Lists are read in pages, from a cursor on.

export interface Page {
  /** Id of the last row already seen; a row that no longer exists or never did gives an empty page. */
  readonly after: string | null;
  readonly limit: number;
}

/** `hasMore`: at least one row follows the last one given. */
export interface Listing<T> {
  readonly rows: readonly T[];
  readonly hasMore: boolean;
}
