// Pages: one row more than asked tells whether more follow.
import type { Listing } from '#domain/page';

export function toListing<Row, T>(rows: readonly Row[], limit: number, convert: (row: Row) => T): Listing<T> {
  return { rows: rows.slice(0, limit).map(convert), hasMore: rows.length > limit };
}
