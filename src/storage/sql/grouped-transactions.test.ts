import { Kysely, sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createGroupedTransactions } from './grouped-transactions.ts';
import type { Tables } from './rows.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';

async function opened() {
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(':memory:').kysely });
  onTestFinished(() => db.destroy());
  await sql`create table t (x integer unique)`.execute(db);
  let transactions = 0;
  const grouped = createGroupedTransactions(
    (_owner, _mayDoMore, work) => (transactions++, db.transaction().execute(work)),
  );
  /** A large one needs more than others. */
  const add = (x: number) =>
    grouped('o', async (tx, mayDoMore) => {
      if (x > 9 && !mayDoMore) return null;
      await sql`insert into t values (${x})`.execute(tx);
      return x;
    });
  const kept = async () => (await sql<{ x: number }>`select x from t order by x`.execute(db)).rows.map(({ x }) => x);
  return { add, kept, transactions: () => transactions };
}

test('work that arrives at about the same time shares one transaction', async () => {
  const { add, kept, transactions } = await opened();
  expect(await Promise.all([add(1), Promise.resolve().then(() => add(2)), add(3)])).toEqual([1, 2, 3]);
  expect(transactions()).toBe(1);
  expect(await kept()).toEqual([1, 2, 3]);
});

test('work that fails is told so, and the others of its group are kept', async () => {
  const { add, kept, transactions } = await opened();
  const ended = await Promise.allSettled([add(1), add(1), add(2)]);
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await kept()).toEqual([1, 2]);
  expect(transactions()).toBe(4); // the group, then each alone
  expect(await add(3)).toBe(3);
});

test('work that needs more is repeated in a transaction that may do it, after the others', async () => {
  const { add, kept, transactions } = await opened();
  expect(await Promise.all([add(10), add(1), add(11)])).toEqual([10, 1, 11]);
  expect(transactions()).toBe(2);
  expect(await kept()).toEqual([1, 10, 11]);
});
