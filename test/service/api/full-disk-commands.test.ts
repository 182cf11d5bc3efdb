// Commands that write a file or a directory, onto a disk that fills up: nothing stays that looks whole, and the error names what the user
// named. Needs a file system of its own, which only root may mount.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../../src/commands/explain.ts';
import { register } from '../../support/api/registered-model.ts';
import { BOOTSTRAP_KEY, shareTestServer } from '../../support/api/test-server.ts';
import { skipUnless } from '../../support/skipping.ts';
import { runCommand } from './run-command.ts';

const DISK_BYTES = 1 << 20;
const MOUNT = ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'none'];

const directory = await mkdtemp(join(tmpdir(), 'whetstone-full-'));
const disk = join(directory, 'disk');
await mkdir(disk);
const isMounted = process.platform === 'linux' && spawnSync('mount', [...MOUNT, disk]).status === 0;
afterAll(async () => {
  if (isMounted) execFileSync('umount', ['--lazy', disk]); // a file may still be open
  await rm(directory, { recursive: true, force: true });
});

const server = await shareTestServer();
let remote: readonly string[];
let store: string;
beforeAll(async () => {
  remote = ['--url', await server.app.listen({ port: 0, host: '127.0.0.1' }), '--key', BOOTSTRAP_KEY];
  await register(server, 'large');
  store = join(directory, 'store');
  await runCommand('keys', 'create', '--data', store);
});
afterEach(async () => {
  for (const name of await readdir(disk)) await rm(join(disk, name), { recursive: true });
});

const MERGED = ['--merged', '--base', server.model.directory];

/** What is written, for how many bytes the disk has room, and the command. */
const WRITING: readonly (readonly [name: string, room: number, command: (out: string) => readonly string[]])[] = [
  ['adapter.tar', 4_096, (out) => ['checkpoints', 'download', 'p/large', '--out', out, ...remote]],
  ['peft', 8_192, (out) => ['checkpoints', 'export', 'p/large', '--out', out, ...remote]],
  ['merged', 8_192, (out) => ['checkpoints', 'export', 'p/large', '--out', out, ...MERGED, ...remote]],
  [
    'a.gguf',
    0,
    (out) => ['checkpoints', 'export', 'p/large', '--out', out, '--format', 'gguf', ...MERGED.slice(1), ...remote],
  ],
  [
    'm.gguf',
    8_192,
    (out) => ['checkpoints', 'export', 'p/large', '--out', out, '--format', 'gguf', ...MERGED, ...remote],
  ],
  ['metrics', 0, (out) => ['models', 'metrics', 'p/large', '--out', out, ...remote]],
  ['pulled', 0, (out) => ['artifacts', 'pull', 'p/large:step0', out, ...remote]],
  ['copy', 8_192, (out) => ['backup', out, '--data', store]],
];

describe('on a full disk', skipUnless(isMounted, 'mount -t tmpfs is not allowed: it needs root'), () => {
  test.each(WRITING)('%s is not there, and the error names it', async (name, room, command) => {
    await writeFile(join(disk, 'full'), Buffer.alloc(DISK_BYTES - room));
    const out = join(disk, name);
    const { stdout, said, error } = await runCommand(...command(out));
    expect({ stdout, code: error === null ? 0 : exitCodeOf(error) }).toEqual({ stdout: '', code: 1 });
    expect(said).toMatch(new RegExp(`^${out}\\S* (cannot be written: its disk is full|needs \\d+ bytes more)`));
    expect(await filesOn(disk)).toEqual(['full']);
  });

  test('a restore says so too, and no server starts on what there is', async () => {
    const copy = join(directory, 'copy');
    expect((await runCommand('backup', copy, '--data', store)).error).toBeNull();
    await writeFile(join(disk, 'full'), Buffer.alloc(DISK_BYTES - 8_192));
    const data = join(disk, 'restored');
    const { stdout, said, error } = await runCommand('restore', copy, '--data', data);
    expect({ stdout, code: exitCodeOf(error) }).toEqual({ stdout: '', code: 1 });
    expect(said).toBe(`${data} cannot be written: its disk is full. Free some space, and run the command again.`);
    expect(await filesOn(disk)).not.toContain('whetstone.db');
  });
});

async function filesOn(place: string): Promise<string[]> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
