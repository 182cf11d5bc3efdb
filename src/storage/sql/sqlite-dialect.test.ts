import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createSqliteDialect } from './sqlite-dialect.ts';

test('a commit is fsynced to a write-ahead log, references hold, and a busy file is waited for', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-dialect-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const db = new Kysely({ dialect: createSqliteDialect(join(directory, 'x.db')).kysely });
  onTestFinished(() => db.destroy());
  const setting = async (name: string): Promise<unknown> =>
    Object.values((await sql.raw<object>(`pragma ${name}`).execute(db)).rows[0]!)[0];
  expect(await setting('journal_mode')).toBe('wal');
  expect(await setting('synchronous')).toBe(2); // FULL: acknowledged writes survive power loss
  expect(await setting('foreign_keys')).toBe(1);
  expect(await setting('busy_timeout')).toBe(10_000);
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
