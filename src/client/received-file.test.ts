import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { receive } from './received-file.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'whetstone-received-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const opened = (bytes: number) => async () => ({ content: new Blob([new Uint8Array(bytes)]).stream(), isRest: false });

test.skipIf(!existsSync('/dev/full'))('a full disk ends the transfer, and keeps nothing of the file', async () => {
  const target = join(directory, 'adapter.tar');
  const unfinished = `${target}.0123456789ab.part`;
  await symlink('/dev/full', unfinished); // every write to it finds the disk full
  await expect(receive(unfinished, 1_000, opened(1_000), () => {})).rejects.toThrow(
    `${target} cannot be written: its disk is full.`,
  );
  expect(await readdir(directory)).toEqual([]);
});

test('a server that refuses leaves what has arrived, so that the next attempt goes on there', async () => {
  const unfinished = join(directory, 'adapter.tar.part');
  await writeFile(unfinished, 'half');
  const refused = Object.assign(new Error('no'), { status: 403 });
  await expect(
    receive(
      unfinished,
      8,
      () => Promise.reject(refused),
      () => {},
    ),
  ).rejects.toThrow('no');
  expect(await readdir(directory)).toEqual(['adapter.tar.part']);
});
