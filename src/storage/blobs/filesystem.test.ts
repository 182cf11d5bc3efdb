import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { blobContract } from '../../../test/contract/blobs.ts';
import { openFilesystemBlobs } from './filesystem.ts';

const directory = await mkdtemp(join(tmpdir(), 'whetstone-blobs-'));
let roots = 0;
const newRoot = (): string => join(directory, String(roots++));
afterAll(() => rm(directory, { recursive: true, force: true }));

blobContract('filesystem', () => openFilesystemBlobs({ root: newRoot() }));

test('a source that fails leaves no temporary file, and a restart clears what a crash left', async () => {
  const root = newRoot();
  const blobs = await openFilesystemBlobs({ root });

  async function* failing(): AsyncGenerator<Uint8Array> {
    throw new Error('gone');
  }
  await expect(blobs.put('a', failing())).rejects.toThrow('gone');
  expect(await readdir(join(root, '.temporary'))).toEqual([]);
  await writeFile(join(root, '.temporary', 'half'), 'x');
  await openFilesystemBlobs({ root });
  expect(await readdir(join(root, '.temporary'))).toEqual([]);
});

test('symbolic links are not listed', async () => {
  const root = newRoot();
  const blobs = await openFilesystemBlobs({ root });
  await blobs.put('d/real', Buffer.from('x'));
  await mkdir(join(directory, 'outside'));
  await writeFile(join(directory, 'outside', 'secret'), 's');
  await symlink(join(directory, 'outside'), join(root, 'd', 'link'));
  expect((await blobs.list('d')).map(({ name }) => name)).toEqual(['d/real']);
});
