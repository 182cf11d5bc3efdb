// Pages of rows: the cursor's row says where to continue, and one extra row tells whether more follow. Rows are weighed before they are
// read: SQLite reads on the event loop, so a page of a hundred rows of megabytes would hold up everyone for an answer of one or two.
import { setImmediate } from 'node:timers/promises';
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
  /** Columns whose texts may be long: the page ends before the row with which they exceed PAGE_WEIGHT_MAX. */
  readonly heavy: readonly Column<Table>[];
}

/** `weigh`: of what `convert` reads in addition to the row. Throws `unknownCursor`. */
export async function listPage<Table extends keyof Tables, T>(
  db: Kysely<Tables>,
  { table, of, where = {}, also = [], by, order, heavy }: Listed<Table>,
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
  const select = <Row>(columns: RawBuilder<unknown>, rowsMax: number) =>
    sql<Row>`select ${columns} from ${from} where ${all(conditions)} order by ${ordered} limit ${rowsMax}`.execute(db);
  const { rows, hasMore } = await readFitting(
    heavy,
    limit,
    async (weight, rowsMax) => (await select<Weighed>(sql`${weight} as weight`, rowsMax)).rows,
    async (rowsMax) => (await select<Selectable<Tables[Table]>>(sql`*`, rowsMax)).rows,
  );
  const page: T[] = [];
  let weight = 0;
  for (const row of rows) {
    const converted = await convert(row);
    weight += weigh(converted);
    if (page.length > 0 && weight > PAGE_WEIGHT_MAX) return { rows: page, hasMore: true };
    page.push(converted);
  }
  return { rows: page, hasMore };
}

/**
 * How many rows there are; counts only as far as `most`. `by` names the index to count in, which should have all other columns too: those
 * of the filters that it does not lead are hidden from the choice of an index.
 */
export async function countRows<Table extends keyof Tables>(
  db: Kysely<Tables>,
  { table, of, where = {}, also = [], by }: Omit<Listed<Table>, 'order' | 'heavy'>,
  most = Number.MAX_SAFE_INTEGER,
): Promise<number> {
  const wanted = Object.entries({ ...of, ...where }).filter(([, value]) => value !== undefined);
  const leads = (column: string) => (by as readonly string[]).includes(column);
  const conditions = wanted.map(([column, value]) =>
    leads(column) ? sql`${sql.ref(column)} = ${value}` : sql`${sql.ref(column)} || '' = ${value}`,
  );
  const { rows } = await sql<{ found: number | string }>`
    select count(*) as found from (
      select 1 as one from ${sql.table(table)} where ${all([...conditions, ...also])} limit ${most}) as counted`.execute(
    db,
  );
  return Number(rows[0]!.found);
}

export interface Weighed {
  /** Postgres gives a text. */
  readonly weight: number | string;
}

/**
 * The first rows, as many as fit into a page. Both functions read the same rows in the same order: the first selects only the expression
 * that it is given, the second whole rows. Rows that grow between the two are read as they are then.
 */
export async function readFitting<Row>(
  heavy: readonly string[],
  limit: number,
  weighRows: (weight: RawBuilder<number | string>, rowsMax: number) => Promise<readonly Weighed[]>,
  readRows: (rowsMax: number) => Promise<readonly Row[]>,
): Promise<Listing<Row>> {
  if (heavy.length === 0) return toListing(await readRows(limit + 1), limit, (row) => row);
  const weighed = await weighRows(weightOf(heavy), limit + 1);
  const count = countFitting(weighed.slice(0, limit));
  return { rows: count === 0 ? [] : await readRows(count), hasMore: weighed.length > count };
}

/** Bytes of these columns. SQLite and Postgres have them beside the texts, which are not read. */
export const weightOf = (columns: readonly string[]): RawBuilder<number | string> =>
  sql`${sql.join(
    columns.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`),
    sql` + `,
  )}`;

/** How many of the first rows fit into a page: one at least, if there is one. */
export function countFitting(rows: readonly Weighed[]): number {
  let weight = 0;
  const beyond = rows.findIndex((row) => (weight += Number(row.weight)) > PAGE_WEIGHT_MAX);
  return beyond < 0 ? rows.length : Math.max(1, beyond);
}

/** For rows that are found otherwise: reads all of them, as many at once as fit into a page, and lets others be served in between. */
export async function readInFitting<Found extends Weighed, Row>(
  found: readonly Found[],
  read: (some: readonly Found[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < found.length;) {
    if (from > 0) await setImmediate();
    const some = found.slice(from, from + countFitting(found.slice(from)));
    rows.push(...(await read(some)));
    from += some.length;
  }
  return rows;
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
