// What the lists of the Tinker protocol have in common: a slice by offset, newest first, that ends early if its rows are heavy, and how
// many rows there are in all.
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import { PAGE_WEIGHT_MAX } from '#domain/page';
import type { Slice, Sliced } from '../tinker-store.ts';
import type { Tables } from './rows.ts';
import type { TinkerTables } from './tinker-rows.ts';

type Listed = 'tinker_sessions' | 'tinker_runs' | 'tinker_checkpoints';
type Rows<T extends Listed> = SelectQueryBuilder<Tables, T, object>;

/** Newest first. `key`: what orders rows of the same time. The metadata is weighed in the database, before any is read. */
export async function sliced<T extends Listed, R>(
  query: Rows<T>,
  key: readonly (string & keyof Tables[T])[],
  slice: Slice,
  toDomain: (row: Tables[T]) => R,
): Promise<Sliced<R>> {
  const total = await countOf(query);
  const weights = await newestFirst(query, key, slice)
    .select(sql<number>`length(metadata)`.as('weight'))
    .execute();
  const limit = countWithin(weights.map(({ weight }) => Number(weight)));
  if (limit === 0) return { rows: [], total };
  const found = await newestFirst(query, key, { ...slice, limit })
    .selectAll()
    .execute();
  return { rows: found.map((row) => toDomain(row as unknown as Tables[T])), total };
}

/** Of rows whose ids are all that is listed. */
export async function slicedIds(query: Rows<'tinker_sessions'>, slice: Slice): Promise<Sliced<string>> {
  const found = await newestFirst(query, ['id'], slice).select('id').execute();
  return { rows: found.map(({ id }) => id), total: await countOf(query) };
}

async function countOf<T extends Listed>(query: Rows<T>): Promise<number> {
  const { count } = await plain(query)
    .select(sql<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

function newestFirst<T extends Listed>(query: Rows<T>, key: readonly string[], { offset, limit }: Slice) {
  const ordered = key.reduce(
    (sorted, column) => sorted.orderBy(sql.ref(column), 'desc'),
    plain(query).orderBy('created_at_ms', 'desc'),
  );
  return ordered.limit(limit).offset(offset);
}

/** All these tables have the columns that are named here. */
const plain = <T extends Listed>(query: Rows<T>) => query as unknown as Rows<'tinker_sessions'>;

/** How many of them a page holds: one at least, if there is one. */
function countWithin(weights: readonly number[]): number {
  let sum = 0;
  const heavy = weights.findIndex((weight, at) => (sum += weight) > PAGE_WEIGHT_MAX && at > 0);
  return heavy < 0 ? weights.length : heavy;
}

export const findRow = <T extends 'tinker_sessions' | 'tinker_runs' | 'tinker_samplers'>(
  db: Kysely<Tables>,
  table: T,
  id: string,
): Promise<TinkerTables[T] | null> =>
  sql<TinkerTables[T]>`select * from ${sql.table(table)} where id = ${id}`
    .execute(db)
    .then((found) => found.rows[0] ?? null);
