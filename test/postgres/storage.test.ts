// The storage contract on a real Postgres, and behaviour that only several servers on one database have.
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import { silentLog } from '#base/log';
import type { Storage } from '#storage/storage';
import { openPostgresStorage } from '#storage/sql/open-postgres';
import { storageContract } from '../contract/storage.ts';
import { addModel } from '../contract/stored-rows.ts';
import { skipWithout } from '../skipping.ts';
import { startPostgres } from './postgres-server.ts';

const server = await startPostgres();
const opened: Storage[] = [];
// After each test: a fast machine would use up the server's 100 connections before idle ones close.
afterEach(async () => {
  for (const storage of opened.splice(0)) await storage.close();
});
afterAll(() => server?.stop());

async function open(url?: string): Promise<Storage> {
  const storage = await openPostgresStorage({ url: url ?? (await server!.createDatabase()), log: silentLog });
  opened.push(storage);
  return storage;
}

describe('Postgres', skipWithout('POSTGRES', server !== null), () => {
  storageContract('postgres', () => open());

  test('servers that start at once bring the schema up to date once', async () => {
    const url = await server!.createDatabase();
    const storages = await Promise.all(Array.from({ length: 4 }, () => open(url)));
    for (const storage of storages) await storage.ping();
  });

  test('servers share jobs without claiming one twice, and number their rows without gaps or clashes', async () => {
    const url = await server!.createDatabase();
    const storages = await Promise.all(Array.from({ length: 3 }, () => open(url)));
    const models = await Promise.all(Array.from({ length: 12 }, (_, i) => addModel(storages[i % 3]!)));
    await Promise.all(
      models.map(({ id: modelId }, i) =>
        storages[i % 3]!.jobs.create({
          id: createId(),
          type: 'rl',
          modelId,
          entity: 'team',
          keyId: 'k',
          bodyBlob: 'x',
          createdAtMs: 1,
        }),
      ),
    );
    const claims = await Promise.all(
      Array.from({ length: 24 }, (_, i) => storages[i % 3]!.jobs.claim(`worker-${i % 3}`, 10, 1_000, null)),
    );
    const ids = claims.flatMap((job) => (job ? [job.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(12);
  });

  test('the error for a database that does not answer leaves out its password', async () => {
    const nowhere = openPostgresStorage({ url: 'postgres://me:secret@127.0.0.1:9/db', log: silentLog });
    await expect(nowhere).rejects.toThrow(
      /^Cannot open the database postgres:\/\/127\.0\.0\.1:9\/db: .*WHETSTONE_DATABASE_URL/,
    );
    await expect(nowhere).rejects.not.toThrow('secret');
  });
});
