// Backups between kinds of stores: from SQLite and files into Postgres and S3, and back, without any change.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { StoreConfig } from '../../../src/config/server-config.ts';
import { runBackup } from '../../../src/maintenance/run-backup.ts';
import { runDoctor } from '../../../src/maintenance/run-doctor.ts';
import { runRestore } from '../../../src/maintenance/run-restore.ts';
import { BUCKET, CREDENTIALS, openObjectStore, type ObjectStore } from '../../support/object-store.ts';
import { startPostgres } from '../../support/postgres/postgres-server.ts';
import { skipWithout } from '../../support/skipping.ts';
import { fillStore, localStore, quiet, using, type Stored } from './a-store.ts';
import { begun, readBlobs, readRows } from './whole-store.ts';

const postgres = await startPostgres();
let root: string;
let objects: ObjectStore;
beforeAll(async () => {
  if (!postgres) return;
  for (const [name, value] of Object.entries(CREDENTIALS)) vi.stubEnv(name, value);
  root = await mkdtemp(join(tmpdir(), 'whetstone-stores-'));
  objects = await openObjectStore(join(root, 'objects'));
});
afterAll(async () => {
  if (!postgres) return;
  await objects.close();
  await postgres.stop();
  await rm(root, { recursive: true, force: true });
  vi.unstubAllEnvs();
});

const remote = async (name: string): Promise<StoreConfig> => ({
  dataDirectory: join(root, name),
  databaseUrl: await postgres!.createDatabase(),
  s3: { bucket: BUCKET, prefix: `${name}/`, endpoint: objects.endpoint, region: 'us-east-1' },
});

describe('Postgres and S3', skipWithout('POSTGRES', postgres !== null), () => {
  test('accept a backup of a data directory, and return it unchanged', async () => {
    const local = localStore(join(root, 'local'));
    const stored: Stored = await fillStore(local);
    const [first, second] = [join(root, 'first'), join(root, 'second')];
    await runBackup(local, first, quiet);
    const shared = await remote('shared');
    expect(await runRestore(shared, first, false, quiet)).toMatchObject({ outcome: 'restored', findings: [] });
    expect((await runDoctor(shared, false, quiet)).findings).toEqual([]);
    await expect(runRestore(shared, first, false, quiet)).rejects.toThrow('is not empty');

    const report = await using(shared, async () => {
      await expect(runDoctor(shared, false, quiet)).rejects.toThrow('Stop all its servers first');
      return runBackup(shared, second, quiet);
    });
    expect(report).toMatchObject({ settled: true, findings: [] });
    expect(readRows(second)).toEqual(begun(readRows(first)));
    expect(await readBlobs(second)).toEqual(await readBlobs(first));

    await using(shared, async ({ blobs }) => {
      await blobs.delete(`checkpoints/${stored.modelId}/0/adapter_config.json`);
      await blobs.put('artifacts/orphan', Buffer.from('1'));
    });
    const { findings, quarantine } = await runDoctor(shared, true, quiet);
    expect(quarantine).toContain('s3://b/shared/quarantine/');
    const moved = quarantine!.slice('s3://b/shared/'.length);
    await using(shared, async ({ blobs }) => {
      expect(await blobs.list('quarantine')).toEqual([{ name: `${moved}/artifacts/orphan`, sizeBytes: 1 }]);
    });
    expect(findings.map(({ kind, repaired }) => [kind, repaired])).toEqual([
      ['missing_data', false],
      ['orphan_blob', true],
    ]);
    const left = (await runDoctor(shared, false, quiet)).findings;
    expect(left).toMatchObject([{ kind: 'missing_data', where: `checkpoints/${stored.modelId}/0` }]);
  });

  test('a Postgres without our schema is a finding', async () => {
    const bare = await remote('bare');
    expect((await runDoctor(bare, false, quiet)).findings).toMatchObject([{ kind: 'old_schema' }]);
    await expect(runBackup(bare, join(root, 'none'), quiet)).rejects.toThrow('has schema version 0');
  });
});
