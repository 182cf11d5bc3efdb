import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import Database from 'libsql';
import { expect, onTestFinished, test } from 'vitest';
import { createSqliteDialect } from './sqlite-dialect.ts';

test('a commit is fsynced to a write-ahead log, and references hold', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-dialect-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const db = new Kysely({ dialect: createSqliteDialect(join(directory, 'x.db')).kysely });
  onTestFinished(() => db.destroy());
  const setting = async (name: string): Promise<unknown> =>
    Object.values((await sql.raw<object>(`pragma ${name}`).execute(db)).rows[0]!)[0];
  expect(await setting('journal_mode')).toBe('wal');
  expect(await setting('synchronous')).toBe(2); // FULL: acknowledged writes survive power loss
  expect(await setting('foreign_keys')).toBe(1);
});

test('a file that another process writes is waited for, and meanwhile the event loop goes on', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-dialect-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'x.db');
  const db = new Kysely<{ t: { x: number } }>({ dialect: createSqliteDialect(path).kysely });
  onTestFinished(() => db.destroy());
  await sql`create table t (x integer)`.execute(db);
  const other = new Database(path);
  onTestFinished(() => void other.close());
  const delays = monitorEventLoopDelay({ resolution: 10 });
  const whileLocked = async (work: () => Promise<unknown>): Promise<void> => {
    other.exec('begin immediate');
    delays.reset();
    delays.enable();
    const done = work();
    await delay(1_500);
    other.exec('rollback');
    await done;
    delays.disable();
    expect(delays.max / 1e6).toBeLessThan(500);
  };
  await whileLocked(() => db.insertInto('t').values({ x: 1 }).execute());
  await whileLocked(() => db.transaction().execute((tx) => tx.insertInto('t').values({ x: 2 }).execute()));
  expect(await db.selectFrom('t').selectAll().execute()).toEqual([{ x: 1 }, { x: 2 }]);
});

test('reads that follow one another give the event loop back', async () => {
  const db = new Kysely({ dialect: createSqliteDialect(':memory:').kysely });
  onTestFinished(() => db.destroy());
  const some = sql`with recursive c (x) as (select 1 union all select x + 1 from c where x < 10000) select max(x) from c`;
  let [isDone, turns] = [false, 0];
  const count = (): void => void (turns++, isDone || setImmediate(count));
  setImmediate(count);
  for (let i = 0; i < 100; i++) await some.execute(db);
  isDone = true;
  expect(turns).toBeGreaterThan(5);
});

test('the file is opened by the first query, and closed again where it is no database', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-dialect-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'x.db');
  const [unused, other] = [createSqliteDialect(path), createSqliteDialect(join(directory, 'text'))];
  await expect(access(path)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(unused).toBeDefined();
  await writeFile(
    join(directory, 'text'),
    'no database, but a text that is long enough to be read as one, page by page',
  );
  const db = new Kysely({ dialect: other.kysely });
  for (let i = 0; i < 2; i++) await expect(sql`select 1`.execute(db)).rejects.toThrow(/not a database/);
  await db.destroy();
});
