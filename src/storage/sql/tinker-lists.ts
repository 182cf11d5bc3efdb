// What the lists of the Tinker protocol have in common: a slice by offset, newest first, and how many rows there are in all.
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import type { Slice, Sliced } from '../tinker-store.ts';
import type { Tables } from './rows.ts';
import type { TinkerTables } from './tinker-rows.ts';

type Listed = 'tinker_sessions' | 'tinker_runs' | 'tinker_checkpoints';

/** Newest first. */
export async function sliced<T extends Listed, R>(
  query: SelectQueryBuilder<Tables, T, object>,
  { offset, limit }: Slice,
  toDomain: (row: Tables[T]) => R,
): Promise<Sliced<R>> {
  const all = query as unknown as SelectQueryBuilder<Tables, 'tinker_sessions', object>;
  const { count } = await all.select(sql<number>`count(*)`.as('count')).executeTakeFirstOrThrow();
  const found = await all
    .selectAll()
    .orderBy('created_at_ms', 'desc')
    .orderBy(sql`1`, 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
  return { rows: found.map((row) => toDomain(row as unknown as Tables[T])), total: Number(count) };
}

export const findRow = <T extends 'tinker_sessions' | 'tinker_runs' | 'tinker_samplers'>(
  db: Kysely<Tables>,
  table: T,
  id: string,
): Promise<TinkerTables[T] | null> =>
  sql<TinkerTables[T]>`select * from ${sql.table(table)} where id = ${id}`
    .execute(db)
    .then((found) => found.rows[0] ?? null);
