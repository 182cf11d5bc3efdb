import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findServedModel, findServerUrl, lockHolderPath, writeLockHolder } from './lock-holder.ts';

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-holder-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

test.each([
  ['http://127.0.0.1:4567', 'http://127.0.0.1:4567'],
  ['http://0.0.0.0:80', 'http://127.0.0.1'],
  ['http://[::]:8484', 'http://[::1]:8484'],
  ['http://10.0.0.7:8484', 'http://10.0.0.7:8484'],
])('a server that listens on %s is called at %s', async (listening, called) => {
  const directory = await newDirectory();
  await writeLockHolder(directory, { url: listening });
  expect(findServerUrl(directory)).toBe(called);
});

test('a server that does not listen yet, was killed, or never ran has no address', async () => {
  const directory = await newDirectory();
  expect(findServerUrl(directory)).toBeNull();
  await writeLockHolder(directory);
  expect(findServerUrl(directory)).toBeNull();
  const { pid } = spawnSync(process.execPath, ['--version']);
  const killed = { pid, host: hostname(), url: 'http://127.0.0.1:1' };
  await writeFile(lockHolderPath(directory), JSON.stringify(killed));
  expect(findServerUrl(directory)).toBeNull();
  await writeFile(lockHolderPath(directory), JSON.stringify({ ...killed, host: 'another-container' }));
  expect(findServerUrl(directory)).toBe('http://127.0.0.1:1');
});

test('the files of a model are found by its id while they are on this machine', async () => {
  const directory = await newDirectory();
  expect(findServedModel(directory, 'tiny')).toBeNull();
  await writeLockHolder(directory, { url: 'http://127.0.0.1:1', models: { tiny: directory, gone: '/nowhere' } });
  expect(findServedModel(directory, 'tiny')).toBe(directory);
  for (const unknown of ['gone', 'other', 'toString']) expect(findServedModel(directory, unknown)).toBeNull();
});
