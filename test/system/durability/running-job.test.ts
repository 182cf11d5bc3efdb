// A backup made while a job trains: after a restore on another machine the job starts again and ends with the same bytes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Client } from '#client/client';
import { runBackup } from '../../../src/maintenance/run-backup.ts';
import { runDoctor } from '../../../src/maintenance/run-doctor.ts';
import { runRestore } from '../../../src/maintenance/run-restore.ts';
import { createServerProcess } from '../../support/crash/server-process.ts';
import { localStore, quiet } from './a-store.ts';
import { readBlobs, readRows } from './whole-store.ts';

const root = await mkdtemp(join(tmpdir(), 'whetstone-running-'));
afterAll(() => rm(root, { recursive: true, force: true }));

async function groups(client: Client) {
  return Promise.all(
    Array.from({ length: 12 }, async (_, g) => {
      const messages = [{ role: 'user', content: `What is ${10 + g} + 20?` }];
      const sampling = { n: 8, temperature: 1, seed: g, max_tokens: 8 };
      const { choices } = await client.chat({ model: 'wandb-artifact:///default/p/m', messages, ...sampling });
      return {
        trajectories: choices.map((choice, i) => ({ messages_and_choices: [...messages, choice], reward: i % 3 })),
      };
    }),
  );
}

test('a job that trained during the backup ends with the same bytes as in the original', async () => {
  const [original, copy] = [join(root, 'original'), join(root, 'copy')];
  const server = await createServerProcess(original);
  await server.start();
  const { client } = server;
  const model = await client.registerModel({ project: 'p', name: 'm', base_model: 'whetstone/starter' });
  const { id } = await client.submitTrainingJob({
    model_id: model.id,
    trajectory_groups: await groups(client),
    experimental_config: { packed_sequence_length: 32 },
  });
  while ((await client.getTrainingJob(id)).progress === 0);
  const backup = join(root, 'backup');
  expect(await runBackup(localStore(original), backup, quiet)).toMatchObject({ settled: true, findings: [] });
  expect(readRows(backup)['training_jobs']).toMatchObject([{ id, status: 'running' }]);
  await client.follow(id, { deadlineMs: 60_000 });
  await server.kill('server');
  const { findings } = await runDoctor(localStore(original), true, quiet);
  for (const each of findings) expect(each).toMatchObject({ kind: 'leftover_job_data', repaired: true }); // killed before it was deleted

  expect(await runRestore(localStore(copy), backup, false, quiet)).toMatchObject({ outcome: 'restored' });
  const other = await createServerProcess(copy);
  await other.start();
  await other.client.follow(id, { deadlineMs: 60_000 });
  expect(await other.stop()).toBe(0);
  expect((await runDoctor(localStore(copy), false, quiet)).findings).toEqual([]);
  expect(await readBlobs(copy)).toEqual(await readBlobs(original));
  const types = (directory: string) =>
    readRows(directory)
      ['training_events']!.map((event) => event['type'])
      .sort();
  expect(types(copy)).toEqual(types(original));
}, 180_000);
