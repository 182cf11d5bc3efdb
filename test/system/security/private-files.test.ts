// Only the user who runs a server can read what it stores: also with an open umask, and in a directory of an older version.
import { chmod, lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '#base/log';
import { createClient } from '#client/client';
import { runBackup } from '#maintenance/run-backup';
import { runDoctor } from '#maintenance/run-doctor';
import { runRestore } from '#maintenance/run-restore';
import { readServerConfig, readStoreConfig } from '../../../src/config/server-config.ts';
import { startServer } from '../../../src/main.ts';
import { writeTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { fillStore, localStore, quiet } from '../durability/a-store.ts';

let root: string;
let umaskBefore: number;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'whetstone-private-'));
  umaskBefore = process.umask(0);
});
afterEach(async () => {
  process.umask(umaskBefore);
  await rm(root, { recursive: true, force: true });
});

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** Paths that other users may read or write, with their modes. */
async function openTo(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true });
  const modes = await Promise.all(
    ['.', ...entries].map(async (entry) => {
      const found = await lstat(join(directory, entry)).catch(nullIfMissing); // SQLite deletes files of its own at any time
      return found === null || (found.mode & 0o077) === 0 ? [] : [`${entry} ${(found.mode & 0o777).toString(8)}`];
    }),
  );
  return modes.flat();
}

test('a server makes its directory and everything in it private, including what its child processes write', async () => {
  const model = await writeTinyChatModel();
  const data = join(root, 'data');
  await mkdir(data, { mode: 0o755 }); // made by an older version, or by hand
  const server = await startServer(readServerConfig({ port: '0', data, model: [model] }, {}), silentLog);
  try {
    const client = createClient({ baseUrl: `${server.url}/v1/`, apiKey: server.firstKey! });
    const [base_model] = await client.listBaseModels();
    const { id } = await client.registerModel({ project: 'p', name: 'm', base_model: base_model! });
    const messages = [{ role: 'user' as const, content: 'Go' }];
    const { choices } = await client.chat({ model: 'default/p/m', messages, n: 2, temperature: 1, max_tokens: 6 });
    const trajectories = choices.map((choice, i) => ({ messages_and_choices: [...messages, choice], reward: i }));
    const job = await client.submitTrainingJob({ model_id: id, trajectory_groups: [{ trajectories }] });
    await client.follow(job.id, { deadlineMs: 60_000 });
    const files = await readdir(data, { recursive: true });
    expect(files).toEqual(expect.arrayContaining(['whetstone.db', 'whetstone.db-wal', 'lock.db']));
    expect(await openTo(data)).toEqual([]);
  } finally {
    await server.close();
    await rm(model, { recursive: true, force: true });
  }
});

test('a backup and a restore are private too', async () => {
  const store = localStore(join(root, 'data'));
  await fillStore(store);
  process.umask(0);
  await runBackup(store, join(root, 'backup'), quiet);
  expect(await openTo(join(root, 'backup'))).toEqual([]);
  process.umask(0);
  await runRestore(localStore(join(root, 'copy')), join(root, 'backup'), false, quiet);
  expect(await openTo(join(root, 'copy'))).toEqual([]);
});

test('doctor finds what other users can read, and makes it private on request', async () => {
  const store = readStoreConfig(join(root, 'data'), {});
  await fillStore(store);
  const opened = [join(store.dataDirectory, 'blobs'), join(store.dataDirectory, 'whetstone.db')];
  for (const path of opened) await chmod(path, 0o755);
  const found = await runDoctor(store, false, quiet);
  expect(found.findings).toMatchObject([{ kind: 'open_permissions', where: store.dataDirectory, repaired: false }]);
  expect(found.findings[0]!.problem).toContain('and 1 more');
  // Not exact: SQLite's own files may exist until a statement is garbage-collected.
  expect(await openTo(store.dataDirectory)).toEqual(expect.arrayContaining(['blobs 755', 'whetstone.db 755']));
  expect((await runDoctor(store, true, quiet)).findings).toMatchObject([{ kind: 'open_permissions', repaired: true }]);
  expect(await openTo(store.dataDirectory)).toEqual([]);
  expect((await runDoctor(store, false, quiet)).findings).toEqual([]);
});

test('after an upgrade the server closes what older versions left open, so that doctor has nothing to report', async () => {
  const model = await writeTinyChatModel();
  const store = localStore(join(root, 'data'));
  await fillStore(store);
  const opened = [join(store.dataDirectory, 'blobs'), join(store.dataDirectory, 'whetstone.db')];
  for (const path of opened) await chmod(path, 0o755);
  const config = readServerConfig({ port: '0', data: store.dataDirectory, model: [model] }, {});
  const server = await startServer(config, silentLog);
  try {
    await vi.waitFor(async () => expect(await openTo(store.dataDirectory)).toEqual([]), 10_000);
  } finally {
    await server.close();
    await rm(model, { recursive: true, force: true });
  }
  expect((await runDoctor(store, false, quiet)).findings).not.toContainEqual(
    expect.objectContaining({ kind: 'open_permissions' }),
  );
});
