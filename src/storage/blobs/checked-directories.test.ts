// Damaged copies of a store's directories: on this machine, or in the store.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { BlobStore } from '../blobs.ts';
import { CHECKSUMS } from '../directory-checksums.ts';
import { createCheckedDirectories } from './checked-directories.ts';
import { prepareDirectoryCopies } from './directory-copies.ts';
import { createMemoryBlobs } from './memory.ts';

const PUT = 'as they were put';
const OTHERS = 'as they are not!';

/** A store with one directory, whose successive fetches return these bytes; the last ones repeat. */
async function openStore(...brought: string[]) {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-checked-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const sums = { weights: createHash('sha256').update(PUT).digest('hex') };
  let fetched = 0;
  const copies = await prepareDirectoryCopies({
    directory,
    bytesMax: 1_000,
    async fetch(_prefix, into) {
      const bytes = brought[Math.min(fetched++, brought.length - 1)]!;
      await writeFile(join(into, 'weights'), bytes);
      await writeFile(join(into, CHECKSUMS), JSON.stringify(sums));
      return bytes.length;
    },
  });
  const store: BlobStore = {
    ...createMemoryBlobs(),
    findDirectory: (prefix, insteadOf) => copies.open(prefix, insteadOf),
  };
  const checked = createCheckedDirectories(store);
  return { copies, fetched: () => fetched, open: async () => (await checked.findDirectory('d'))! };
}

const weightsIn = (directory: string) => readFile(join(directory, 'weights'), 'utf8');

test('a directory is fetched once, and one that is fetched again is looked at again', async () => {
  const { open, copies, fetched } = await openStore(PUT, OTHERS);
  expect(await open()).toBe(await open());
  expect(fetched()).toBe(1);
  await copies.forget('d');
  await expect(open()).rejects.toMatchObject({ code: 'damaged_data' });
});

test('a copy that was damaged on its way is fetched again', async () => {
  const { open, fetched } = await openStore(OTHERS, PUT);
  expect(await weightsIn(await open())).toBe(PUT);
  expect(await weightsIn(await open())).toBe(PUT);
  expect(fetched()).toBe(2);
});

test.each([
  ['has other bytes', (path: string) => writeFile(path, OTHERS)],
  ['is gone', (path: string) => rm(path)],
])('a verified copy of which a file %s is fetched again, once for all its readers', async (_, damage) => {
  const { open, fetched } = await openStore(PUT);
  const first = await open();
  await damage(join(first, 'weights'));
  const [one, other] = await Promise.all([open(), open()]);
  expect(one).not.toBe(first);
  expect(other).toBe(one);
  expect(await weightsIn(one)).toBe(PUT);
  expect(fetched()).toBe(2);
});

test('a damaged directory in the store is named in the error, and is found once it has been restored', async () => {
  const { open, fetched } = await openStore(OTHERS, OTHERS, PUT);
  const message = expect.stringContaining('weights has changed since it was stored') as string;
  await expect(open()).rejects.toMatchObject({ code: 'damaged_data', message });
  expect(fetched()).toBe(2);
  expect(await weightsIn(await open())).toBe(PUT);
});
