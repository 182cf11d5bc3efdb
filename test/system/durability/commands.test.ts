// `whetstone doctor`, `backup` and `restore` as a user runs them, also while a server runs: exit codes and output.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CLI } from '../../support/cli-command.ts';
import { lockDataDirectory } from '../../../src/server/data-lock.ts';
import { fillStore, localStore } from './a-store.ts';

const root = await mkdtemp(join(tmpdir(), 'whetstone-commands-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const run = (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, WHETSTONE_DATA: '', WHETSTONE_DATABASE_URL: '', WHETSTONE_BLOBS_URL: '' };
    execFile(process.execPath, [CLI, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });

test('a store is backed up while its server runs, restored elsewhere, and examined', async () => {
  const data = join(root, 'data');
  const { artifactBlob } = await fillStore(localStore(data));
  const lock = await lockDataDirectory(data); // as a running server does
  const backup = join(root, 'backup');
  const made = await run('backup', backup, '--data', data);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  expect(made.stdout).toContain('Copied 1 model, 2 checkpoints, 3 jobs with 4 events, 1 artifact file, 13 blobs (');
  const refused = await run('doctor', '--data', data);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/^error: .* is in use by the server with process id/);
  await lock.release();

  const copy = join(root, 'copy');
  expect(await run('restore', backup, '--data', copy)).toMatchObject({ code: 0 });
  const sound = await run('doctor', '--data', copy);
  expect(sound).toMatchObject({ code: 0, stderr: '' });
  expect(sound.stdout).toContain('Everything is there and undamaged.');

  await writeFile(join(copy, 'blobs', artifactBlob), 'x');
  await writeFile(join(copy, 'blobs', 'artifacts', 'orphan'), 'x');
  const people = await run('doctor', '--data', copy);
  expect(people.code).toBe(1);
  expect(people.stdout).toContain(`damaged_data  ${artifactBlob}: artifact file `);
  expect(people.stdout).toContain('2 findings. 1 can be repaired with --repair');
  const machines = await run('doctor', '--data', copy, '--json', '--repair', '--yes');
  expect(machines.code).toBe(1);
  expect(JSON.parse(machines.stdout)).toMatchObject({
    healthy: false,
    looked_at: { models: 1 },
    quarantine: expect.stringContaining(join(copy, 'blobs', 'quarantine')) as string,
    findings: [
      { kind: 'damaged_data', repairable: false, repaired: false },
      { kind: 'orphan_blob', where: 'artifacts/orphan', repairable: true, repaired: true },
    ],
  });
  const again = await run('backup', join(root, 'second'), '--data', copy);
  expect(again.code).toBe(1);
  expect(again.stdout).toContain(artifactBlob);
  expect(await run('restore', join(root, 'second'), '--data', join(root, 'third'))).toMatchObject({ code: 1 });
}, 120_000);

test('doctor with serve’s flags reports the memory it would need, while a server runs and without a store', async () => {
  const fits = await run('doctor', '--model', 'starter', '--memory', '4');
  expect(fits).toMatchObject({ code: 0, stderr: '' });
  for (const line of [/^ +0\.\d\d GB {2}weights of whetstone\/starter$/m, /planned, of 4\.00 GB: it fits\.$/m])
    expect(fits.stdout).toMatch(line);
  const refused = await run('doctor', '--memory', '0.6', '--json');
  expect(refused.code).toBe(1);
  expect(JSON.parse(refused.stdout)).toMatchObject({
    fits: false,
    memory_bytes: 600_000_000,
    shortage: expect.stringContaining('It fits with --role api,serve') as string,
  });
  const serving = await run('doctor', '--memory', '0.6', '--role', 'api,serve');
  expect(serving).toMatchObject({ code: 0, stderr: '' });
});
