// A version of ten thousand files takes a few statements in one transaction. test/support/contract/artifact-store.ts tests what the store
// promises.
import { Kysely } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import { aPayer } from '../../../test/support/a-caller.ts';
import { createArtifactStore } from './artifacts.ts';
import type { StorageDialect } from './dialect.ts';
import type { Tables } from './rows.ts';
import { openSqlStorage } from './sql-storage.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';

const FILES = 10_000;

/** Counts the statements sent to the database. */
function watched(dialect: StorageDialect) {
  const counts = { transactions: 0, statements: 0 };
  const kysely = {
    createAdapter: () => dialect.kysely.createAdapter(),
    createIntrospector: (db: Kysely<unknown>) => dialect.kysely.createIntrospector(db),
    createQueryCompiler: () => dialect.kysely.createQueryCompiler(),
    createDriver() {
      const driver = dialect.kysely.createDriver();
      const begin = driver.beginTransaction.bind(driver);
      driver.beginTransaction = (...args) => (counts.transactions++, begin(...args));
      return driver;
    },
  };
  const db = new Kysely<Tables>({
    dialect: kysely,
    log: ({ level }) => void (level === 'query' && counts.statements++),
  });
  return { store: createArtifactStore(db), counts };
}

test('a version of ten thousand files takes two transactions of few statements', async () => {
  const dialect = createSqliteDialect(':memory:');
  const storage = await openSqlStorage(dialect, 'test', silentLog);
  await storage.artifacts.addContent(
    { entity: 'e', sha256: 'x', md5: null, sizeBytes: 1, blob: 'artifacts/x' },
    aPayer(),
    1,
  );
  const { store, counts } = watched(dialect);
  const unknown = Array.from({ length: FILES }, (_, i) => `unknown ${i}`);
  expect(await store.touchContents('e', [...unknown, 'x'], 2)).toHaveLength(1);
  expect(counts.transactions).toBe(1);
  expect(counts.statements).toBeLessThan(50);
  const files = unknown.map((path) => ({ path, sha256: 'x', sizeBytes: 1 }));
  const about = { entity: 'e', project: 'p', name: 'n', type: 'dataset', metadata: {}, digest: 'd', createdAtMs: 1 };
  expect(await store.create({ id: createId(), ...about, files }, ['a'], aPayer())).toMatchObject({
    outcome: 'created',
  });
  expect(counts.transactions).toBe(2);
  expect(counts.statements).toBeLessThan(120);
  await storage.close();
});

test('a page of versions with many files ends early, and the next one goes on', async () => {
  const storage = await openSqlStorage(createSqliteDialect(':memory:'), 'test', silentLog);
  onTestFinished(() => storage.close());
  const { artifacts } = storage;
  await artifacts.addContent({ entity: 'e', sha256: 'x', md5: null, sizeBytes: 1, blob: 'artifacts/x' }, aPayer(), 1);
  const files = Array.from({ length: FILES }, (_, i) => ({ path: `file ${i}`, sha256: 'x', sizeBytes: 1 }));
  const about = { entity: 'e', project: 'p', name: 'n', type: 'dataset', metadata: {}, createdAtMs: 1, files };
  for (const digest of ['a', 'b', 'c', 'd']) await artifacts.create({ id: createId(), ...about, digest }, [], aPayer());
  const first = await artifacts.list({ entity: 'e' }, { after: null, limit: 100 });
  expect([first.rows.map(({ version }) => version), first.hasMore]).toEqual([[0, 1], true]);
  const next = await artifacts.list({ entity: 'e' }, { after: first.rows.at(-1)!.id, limit: 100 });
  expect([next.rows.map(({ version }) => version), next.hasMore]).toEqual([[2, 3], false]);
});
