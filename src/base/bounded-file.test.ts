import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FileTooLongError, readBoundedText } from './bounded-file.ts';

let directory: string;
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'whetstone-bounded-'))));
afterAll(() => rm(directory, { recursive: true }));

test('a file of the longest length is read whole, a longer one is refused', async () => {
  const path = join(directory, 'text');
  await writeFile(path, 'äbc');
  expect(await readBoundedText(path, 4)).toBe('äbc');
  await expect(readBoundedText(path, 3)).rejects.toThrow('it has 4 bytes, and at most 3 were expected');
  await expect(readBoundedText(path, 3)).rejects.toBeInstanceOf(FileTooLongError);
  await writeFile(path, '');
  expect(await readBoundedText(path)).toBe('');
});

test('a device without an end is refused', async () => {
  await expect(readBoundedText('/dev/zero')).rejects.toBeInstanceOf(FileTooLongError);
});

test('a missing file throws what opening it throws', async () => {
  await expect(readBoundedText(join(directory, 'missing'))).rejects.toMatchObject({ code: 'ENOENT' });
});
