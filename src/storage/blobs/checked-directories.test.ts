import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BlobStore } from '../blobs.ts';
import { CHECKSUMS } from '../directory-checksums.ts';
import { createCheckedDirectories } from './checked-directories.ts';
import { createDirectoryCopies } from './directory-copies.ts';
import { createMemoryBlobs } from './memory.ts';

test('a directory that is fetched again is looked at again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-checked-'));
  let bytes = 'as they were put';
  const sums = { weights: createHash('sha256').update(bytes).digest('hex') };
  const copies = await createDirectoryCopies({
    directory,
    bytesMax: 1_000,
    async fetch(_prefix, into) {
      await writeFile(join(into, 'weights'), bytes);
      await writeFile(join(into, CHECKSUMS), JSON.stringify(sums));
      return bytes.length;
    },
  });
  const store: BlobStore = { ...createMemoryBlobs(), openDirectory: (prefix) => copies.open(prefix) };
  const checked = createCheckedDirectories(store);
  expect(await checked.openDirectory('d')).toBe(await checked.openDirectory('d'));
  bytes = 'as they are not!';
  await copies.forget('d');
  await expect(checked.openDirectory('d')).rejects.toMatchObject({ code: 'damaged_data' });
  await rm(directory, { recursive: true });
});
