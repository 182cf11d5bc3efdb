import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { blobContract } from '../../../test/support/contract/blobs.ts';
import { prepareFilesystemBlobs } from './filesystem.ts';

const directory = await mkdtemp(join(tmpdir(), 'whetstone-blobs-'));
let roots = 0;
const newRoot = (): string => join(directory, String(roots++));
afterAll(() => rm(directory, { recursive: true, force: true }));

blobContract('filesystem', () => prepareFilesystemBlobs({ root: newRoot() }));

test('a put that fails leaves no temporary file, and a restart removes those of a crash', async () => {
  const root = newRoot();
  const blobs = await prepareFilesystemBlobs({ root });
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half');
    throw new Error('gone');
  }
  await expect(blobs.put('a', failing())).rejects.toThrow('gone');
  await blobs.put('b/c', Buffer.from('x'));
  await expect(blobs.put('b', Buffer.from('a directory is in the way'))).rejects.toThrow();
  expect(await readdir(join(root, '.temporary'))).toEqual([]);
  await writeFile(join(root, '.temporary', 'half'), 'x');
  const again = await prepareFilesystemBlobs({ root });
  expect(await readdir(join(root, '.temporary'))).toEqual([]);
  expect((await again.list('b')).map(({ name }) => name)).toEqual(['b/c']);
});

test('nothing is read, written, listed or deleted through a symbolic link that leaves the directory', async () => {
  const root = newRoot();
  const outside = newRoot();
  const blobs = await prepareFilesystemBlobs({ root });
  await blobs.put('d/real', Buffer.from('x'));
  await mkdir(join(outside, 'deep'), { recursive: true });
  await writeFile(join(outside, 'secret'), 's');
  await symlink(outside, join(root, 'd', 'link'));
  await symlink(join(outside, 'secret'), join(root, 'd', 'file-link'));
  await symlink(join(outside, 'nowhere'), join(root, 'd', 'dangling'));
  await symlink('../../../..', join(root, 'd', 'upwards'));

  const refusal = { code: 'invalid_request', message: expect.stringContaining('symbolic link') as string };
  for (const name of ['d/link/secret', 'd/link/deep', 'd/link/new', 'd/file-link', 'd/dangling', 'd/upwards/tmp']) {
    await expect(blobs.find(name), name).rejects.toMatchObject(refusal);
    await expect(blobs.stream(name), name).rejects.toMatchObject(refusal);
    await expect(blobs.list(name), name).rejects.toMatchObject(refusal);
    await expect(blobs.put(name, Buffer.from('new')), name).rejects.toMatchObject(refusal);
    await expect(blobs.delete(name), name).rejects.toMatchObject(refusal);
    await expect(blobs.findDirectory(name), name).rejects.toMatchObject(refusal);
  }
  expect((await blobs.list('d')).map(({ name }) => name)).toEqual(['d/real']);
  await blobs.delete('d');
  expect(await readdir(root)).toEqual(['.temporary']);
  expect(await readdir(outside)).toEqual(['deep', 'secret']);
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('s');
});

test('the directory itself may be a link, and links may stay inside it', async () => {
  const [real, root] = [newRoot(), newRoot()];
  await mkdir(real);
  await symlink(real, root);
  const blobs = await prepareFilesystemBlobs({ root });
  await blobs.put('a/b', Buffer.from('x'));
  await symlink(join(real, 'a'), join(real, 'alias'));
  expect(String(await blobs.find('alias/b'))).toBe('x');
});

test('a directory that comes to be while a name is looked at is no link', async () => {
  const blobs = await prepareFilesystemBlobs({ root: newRoot() });
  for (let round = 0; round < 50; round++) {
    const name = `a${round}/b/c`;
    const looks = Array.from({ length: 16 }, async (_, i) => {
      for (let at = 0; at < i; at++) await Promise.resolve();
      for (let found = null; found === null;) found = await blobs.find(name);
    });
    await Promise.all([blobs.put(name, Buffer.from('x')), ...looks]);
  }
});
