import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareDirectoryCopies, KEPT_MS } from './directory-copies.ts';

let directory: string;
let nowMs = 0;
const fetched: string[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'whetstone-copies-'));
  fetched.length = 0;
});
afterEach(() => rm(directory, { recursive: true }));

const open = (bytesMax: number) =>
  prepareDirectoryCopies({
    directory,
    bytesMax,
    now: () => nowMs,
    async fetch(prefix, into) {
      fetched.push(prefix);
      if (prefix === 'nothing') return null;
      if (prefix === 'broken') throw new Error('the line broke');
      await writeFile(join(into, 'file'), prefix.repeat(100 / prefix.length));
      return 100;
    },
  });

test('a directory is fetched once for all callers, and again after it was forgotten', async () => {
  const copies = await open(1_000);
  const paths = await Promise.all([copies.open('a'), copies.open('a')]);
  expect([...paths, await copies.open('a')]).toEqual([paths[0], paths[0], paths[0]]);
  expect(await readFile(join(paths[0]!, 'file'), 'utf8')).toBe('a'.repeat(100));
  expect(fetched).toEqual(['a']);
  await copies.forget('a');
  expect(await readdir(directory)).toEqual([]);
  await copies.open('a');
  expect(fetched).toEqual(['a', 'a']);
});

test('beyond the bound the copy that was not opened for longest goes, and none that may still be read', async () => {
  const copies = await open(250);
  for (const prefix of ['a', 'b', 'c']) await copies.open(prefix);
  expect(await readdir(directory)).toHaveLength(3); // over the limit, but all of them new
  nowMs += KEPT_MS;
  await copies.open('a');
  await copies.open('d');
  expect(await readdir(directory)).toHaveLength(2);
  fetched.length = 0;
  for (const prefix of ['a', 'd', 'b']) await copies.open(prefix);
  expect(fetched).toEqual(['b']);
});

test('missing directories and broken downloads leave nothing behind', async () => {
  const copies = await open(1_000);
  expect(await copies.open('nothing')).toBeNull();
  await expect(copies.open('broken')).rejects.toThrow('the line broke');
  await expect(copies.open('broken')).rejects.toThrow('the line broke');
  expect(await readdir(directory)).toEqual([]);
});
