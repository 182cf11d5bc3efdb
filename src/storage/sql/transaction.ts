// Which transactions may run beside each other where several servers share a database. They read first and then write, so one that may read
// and write anything runs alone. One that names its objects reads and writes only their rows, and runs beside those of other objects.
// postgres-dialect.ts turns the names into locks; SQLite has one writer and needs none.
import { AsyncLocalStorage } from 'node:async_hooks';
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Tables } from './rows.ts';

/** The transaction that is about to begin. `objects` null: it runs alone. */
export interface Beginning {
  readonly objects: readonly string[] | null;
}

const beginnings = new AsyncLocalStorage<Beginning | null>();

type Work<T> = (tx: Transaction<Tables>) => Promise<T>;

const begin = <T>(db: Kysely<Tables>, beginning: Beginning, work: Work<T>): Promise<T> =>
  beginnings.run(beginning, () => db.transaction().execute((tx) => beginnings.run(null, () => work(tx))));

/** No other transaction of any server runs at the same time. */
export const transactionAlone = <T>(db: Kysely<Tables>, work: Work<T>): Promise<T> =>
  begin(db, { objects: null }, work);

/**
 * `objects`: such as `job 1234`; every transaction that touches their rows either names them too or runs alone. An entity's are those of its
 * models with their checkpoints and episodes, jobs with their evaluations, artifacts, runs, webhooks and charges.
 */
export const transactionOf = <T>(db: Kysely<Tables>, objects: string | readonly string[], work: Work<T>): Promise<T> =>
  begin(db, { objects: typeof objects === 'string' ? [objects] : [...objects].sort() }, work); // in one order: none waits for another in a circle

export const ofEntity = (entity: string): string => `entity ${entity}`;

/** Tables whose rows belong to an entity, with the column by which a row is named here. */
const OWNED = {
  ...{ artifacts: 'id', episodes: 'id', models: 'id', runs: 'id', training_jobs: 'id', webhooks: 'id' },
  evaluations: 'job_id',
} as const;

/** A transaction of the entity to which a row belongs, and of other `objects` if it names some. `ifGone`: without the row. */
export async function transactionOfOwner<T>(
  db: Kysely<Tables>,
  { table, id, objects = [] }: { table: keyof typeof OWNED; id: string; objects?: readonly string[] },
  ifGone: T,
  work: Work<T>,
): Promise<T> {
  const owner = sql<{ entity: string }>`select entity from ${sql.table(table)} where ${sql.ref(OWNED[table])} = ${id}`;
  const [row] = (await owner.execute(db)).rows;
  return row ? transactionOf(db, [ofEntity(row.entity), ...objects], work) : ifGone;
}

/** For a transaction that gives a row of the table the next number of all entities' rows. */
export const orderOf = (table: 'models' | 'training_jobs' | 'artifacts' | 'runs' | 'episodes'): string =>
  `order of ${table}`;

/** Null: a statement outside of transactions, or within one. */
export const beginningTransaction = (): Beginning | null => beginnings.getStore() ?? null;
