// Statements over many rows, in pieces between which other requests are answered: SQLite holds the event loop for the length of a statement
// and its one connection for the length of a transaction, and Postgres ends a long statement. A cascade is part of the statement that it
// belongs to, so rows that may be many go before what they belong to, each piece in a transaction of its own where the rest has a meaning
// without it. Does not decide what may be deleted.
import { setImmediate } from 'node:timers/promises';
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Tables } from './rows.ts';

/** Rows of one statement: far below both databases' limits of parameters, and a matter of milliseconds. */
export const PIECE = 500;

export async function inPieces<T, R>(
  all: readonly T[],
  work: (some: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += PIECE) {
    if (at > 0) await setImmediate();
    for (const result of await work(all.slice(at, at + PIECE))) results.push(result); // any number: too many for one call of `push`
  }
  return results;
}

/** Runs `work` in a transaction: one of its own, or one that has begun. */
export type Within = <R>(work: (tx: Kysely<Tables>) => Promise<R[]>) => Promise<R[]>;

/** In the transaction `tx`, which ends later: nobody else writes before that, and SQLite reads nothing either. */
export const inside =
  (tx: Kysely<Tables>): Within =>
  (work) =>
    work(tx);

/** Of each table: its primary key, and the column that names what a row belongs to. */
const ROWS = {
  artifact_contents: [['entity', 'sha256'], 'entity'],
  artifact_files: [['artifact_id', 'path'], 'artifact_id'],
  episode_calls: [['id'], 'episode_id'],
  run_history: [['run_id', 'line'], 'run_id'],
  tinker_operations: [['run_id', 'seq'], 'run_id'],
  training_events: [['id'], 'job_id'],
  training_jobs: [['id'], 'model_id'],
  trajectory_logs: [['id'], 'model_id'],
  webhook_deliveries: [['id'], 'webhook_id'],
} as const;

/** Deletes the rows for which `condition` holds, and returns what `column` had in them. */
export async function deleteRows<R = unknown>(
  within: Within,
  table: keyof typeof ROWS,
  condition: RawBuilder<unknown>,
  column: string = ROWS[table][0][0],
): Promise<R[]> {
  const [from, columns] = [sql.table(table), sql.join(ROWS[table][0].map((each) => sql.ref(each)))];
  const some = sql<{ deleted: R }>`delete from ${from} where (${columns}) in (
    select ${columns} from ${from} where ${condition} limit ${PIECE})
    returning ${sql.ref(column)} as deleted`;
  const all: R[] = [];
  for (let isLast = false; !isLast;) {
    const rows = await within(async (tx) => (await some.execute(tx)).rows);
    for (const { deleted } of rows) all.push(deleted);
    isLast = rows.length < PIECE;
    await setImmediate();
  }
  return all;
}

export async function deleteRowsOf(within: Within, table: keyof typeof ROWS, owners: readonly string[]): Promise<void> {
  const owner = sql.ref(ROWS[table][1]);
  await inPieces(owners, (ids) => deleteRows(within, table, sql`${owner} in (${sql.join(ids)})`));
}
