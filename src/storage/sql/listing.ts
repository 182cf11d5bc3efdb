// Pages of rows: the cursor's row says where to continue, and one extra row tells whether more follow.
import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely';
import { PAGE_WEIGHT_MAX, unknownCursor, type Listing, type Page } from '#domain/page';
import type { Tables } from './rows.ts';

type Column<Table extends keyof Tables> = string & keyof Tables[Table];

export interface Listed<Table extends keyof Tables> {
  readonly table: Table;
  /** The owner's rows; the cursor must be one of these. */
  readonly of: { readonly [C in Column<Table>]?: Tables[Table][C] };
  /** Filters by column; undefined: no filter. */
  readonly where?: { readonly [C in Column<Table>]?: Tables[Table][C] | undefined };
  /** Further conditions. */
  readonly also?: readonly RawBuilder<unknown>[];
  /**
   * Columns that order the rows uniquely. A leading column of `of` or `where` names the index to use: Postgres would otherwise read
   * all entities' rows in their order, assuming that ours are spread evenly among them.
   */
  readonly by: readonly Column<Table>[];
  readonly order: 'asc' | 'desc';
}

/** Throws `unknownCursor`. */
export async function listPage<Table extends keyof Tables, T>(
  db: Kysely<Tables>,
  { table, of, where = {}, also = [], by, order }: Listed<Table>,
  { after, limit }: Page,
  convert: (row: Selectable<Tables[Table]>) => T | Promise<T>,
  weigh: (row: T) => number = () => 0,
): Promise<Listing<T>> {
  const from = sql.table(table);
  const place = sql.join(by.map((column) => sql.ref(column)));
  const wanted: Readonly<Record<string, unknown>> = { ...of, ...where };
  const conditions = [...within(wanted), ...also];
  if (after !== null) {
    const cursor = sql<
      Record<string, unknown>
    >`select ${place} from ${from} where ${all([sql`id = ${after}`, ...equal(of)])}`;
    const seen = await cursorRow({ executeTakeFirst: async () => (await cursor.execute(db)).rows[0] }, after);
    conditions.push(
      sql`(${place}) ${order === 'asc' ? sql`>` : sql`<`} (${sql.join(by.map((column) => wanted[column] ?? seen[column]))})`,
    );
  }
  const ordered = sql.join(by.map((column) => sql`${sql.ref(column)} ${order === 'asc' ? sql`asc` : sql`desc`}`));
  const query = sql<Selectable<Tables[Table]>>`
    select * from ${from} where ${all(conditions)} order by ${ordered} limit ${limit + 1}`;
  const { rows } = await query.execute(db);
  const page: T[] = [];
  let weight = 0;
  for (const row of rows.slice(0, limit)) {
    const converted = await convert(row);
    weight += weigh(converted);
    if (page.length > 0 && weight > PAGE_WEIGHT_MAX) return { rows: page, hasMore: true };
    page.push(converted);
  }
  return { rows: page, hasMore: rows.length > limit };
}

/**
 * Equality, written as a range: Postgres would drop a column that equals a value from the order, and SQLite would read the index of any
 * other such column and sort all of its rows.
 */
const within = (columns: Readonly<Record<string, unknown>>): RawBuilder<unknown>[] =>
  Object.entries(columns).flatMap(([column, value]) =>
    value === undefined ? [] : sql`${sql.ref(column)} between ${value} and ${value}`,
  );

const equal = (columns: Readonly<Record<string, unknown>>): RawBuilder<unknown>[] =>
  Object.entries(columns).flatMap(([column, value]) => (value === undefined ? [] : sql`${sql.ref(column)} = ${value}`));

const all = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> => sql.join([...conditions], sql` and `);

export function toListing<Row, T>(rows: readonly Row[], limit: number, convert: (row: Row) => T): Listing<T> {
  return { rows: rows.slice(0, limit).map(convert), hasMore: rows.length > limit };
}

/** Throws `unknownCursor` if the query finds nothing. */
export async function cursorRow<Row>(
  query: { executeTakeFirst(): Promise<Row | undefined> },
  after: string,
): Promise<Row> {
  const row = await query.executeTakeFirst();
  if (row === undefined) throw unknownCursor(after);
  return row;
}

/** Whether a column, or texts that are joined, contain this one. The letters A to Z match in either case. */
export const containsText = (texts: RawBuilder<unknown>, text: string): RawBuilder<boolean> =>
  sql<boolean>`lower(${texts}) like lower(${`%${text.replace(/[\\%_]/g, '\\$&')}%`}) escape '\\'`;
