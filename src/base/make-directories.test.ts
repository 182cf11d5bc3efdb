import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { skipOutsideLinux } from '../../test/support/skipping.ts';
import { makeDirectories } from './make-directories.ts';

test('all missing directories of a path are created, and existing ones are kept', async () => {
  const root = await mkdtemp(join(tmpdir(), 'whetstone-directories-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const deep = join(root, 'a', 'b', 'c');
  await makeDirectories(deep);
  await makeDirectories(deep);
  expect((await stat(deep)).isDirectory()).toBe(true);
  await writeFile(join(root, 'file'), '');
  await expect(makeDirectories(join(root, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeDirectories(join(root, 'file', 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
});

test(
  'a file system that takes no directories is an error at once',
  { timeout: 5_000, ...skipOutsideLinux() },
  async () => {
    await expect(makeDirectories('/proc/nope/deep')).rejects.toMatchObject({ code: 'ENOENT' });
  },
);
