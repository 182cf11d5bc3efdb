// Which transactions may run beside each other where several servers share a database. Most read first and then write anything, so they
// run alone. One that names its object reads and writes nothing but rows of that object, and runs beside those of other objects.
// postgres-dialect.ts turns the names into locks; SQLite has one writer and needs none.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely, Transaction } from 'kysely';
import type { Tables } from './rows.ts';

/** The transaction that is about to begin. `object` null: it runs alone. */
export interface Beginning {
  readonly object: string | null;
}

const beginnings = new AsyncLocalStorage<Beginning | null>();

type Work<T> = (tx: Transaction<Tables>) => Promise<T>;

const begin = <T>(db: Kysely<Tables>, beginning: Beginning, work: Work<T>): Promise<T> =>
  beginnings.run(beginning, () => db.transaction().execute((tx) => beginnings.run(null, () => work(tx))));

/** No other transaction of any server runs at the same time. */
export const transactionAlone = <T>(db: Kysely<Tables>, work: Work<T>): Promise<T> => begin(db, { object: null }, work);

/** `object`: such as `job 1234`; every transaction that touches its rows either names it too or runs alone. */
export const transactionOf = <T>(db: Kysely<Tables>, object: string, work: Work<T>): Promise<T> =>
  begin(db, { object }, work);

/** Null: a statement outside of transactions, or within one. */
export const beginningTransaction = (): Beginning | null => beginnings.getStore() ?? null;
