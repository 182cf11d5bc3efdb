// What every BlobStore promises. Run by memory.ts and blobs/filesystem.ts; a factory makes an empty store.
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BlobStore } from '#storage/blobs';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (content: Uint8Array | null): string | null => (content === null ? null : Buffer.from(content).toString());

async function* pieces(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield bytes(part);
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

export function blobContract(name: string, open: () => Promise<BlobStore>): void {
  describe(`${name} keeps the blob contract`, () => {
    test('a stored blob is found whole, as bytes and as a stream', async () => {
      const blobs = await open();
      expect(await blobs.put('a/b/c.json', bytes('first'))).toEqual({ sizeBytes: 5 });
      expect(await blobs.put('a/b/c.json', pieces('sec', '', 'ond'))).toEqual({ sizeBytes: 6 });
      expect(text(await blobs.find('a/b/c.json'))).toBe('second');
      expect(text(await readAll((await blobs.stream('a/b/c.json'))!))).toBe('second');
      expect(await blobs.find('a/b')).toBeNull();
      expect(await blobs.find('a/none')).toBeNull();
      expect(await blobs.stream('a/none')).toBeNull();
    });

    test('a stream may start at an offset', async () => {
      const blobs = await open();
      await blobs.put('a/b', pieces('abc', 'def', 'gh'));
      for (const from of [0, 1, 3, 7])
        expect(text(await readAll((await blobs.stream('a/b', from))!))).toBe('abcdefgh'.slice(from));
      expect(await blobs.stream('a/none', 1)).toBeNull();
    });

    test('a source that fails leaves the old blob as it was', async () => {
      const blobs = await open();
      await blobs.put('x', bytes('old'));
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield bytes('new');
        throw new Error('the client went away');
      }
      await expect(blobs.put('x', failing())).rejects.toThrow('went away');
      expect(text(await blobs.find('x'))).toBe('old');
    });

    test('a source that fails half-way leaves no new blob', async () => {
      const blobs = await open();
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield bytes('half');
        throw new Error('the client went away');
      }
      await expect(blobs.put('new/x', failing())).rejects.toThrow('went away');
      expect(await blobs.find('new/x')).toBeNull();
      expect(await blobs.list('new')).toEqual([]);
      expect(await blobs.findDirectory('new')).toBeNull();
    });

    test('a blob is not there before its source has ended', async () => {
      const blobs = await open();
      async function* watched(): AsyncGenerator<Uint8Array> {
        yield bytes('first half');
        expect(await blobs.find('x')).toBeNull();
        expect(await blobs.stream('x')).toBeNull();
        yield bytes(', second half');
      }
      await blobs.put('x', watched());
      expect(text(await blobs.find('x'))).toBe('first half, second half');
    });

    test('a stream that was opened ends whole, whatever happens to the blob', async () => {
      const blobs = await open();
      const large = Buffer.alloc(300_000, 'a');
      await blobs.put('d/x', large);
      const [deleted, overwritten] = [(await blobs.stream('d/x'))!, (await blobs.stream('d/x'))!];
      await blobs.put('d/x', bytes('new'));
      expect((await readAll(overwritten)).equals(large)).toBe(true); // toEqual compares every byte
      await blobs.delete('d');
      expect((await readAll(deleted)).equals(large)).toBe(true);
    });

    test('puts of one name at the same time leave one of them, whole', async () => {
      const blobs = await open();
      const contents = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(50_000));
      await Promise.all(contents.map((content) => blobs.put('x/y/z', pieces(content.slice(1), content.slice(0, 1)))));
      expect(contents).toContain(text(await blobs.find('x/y/z')));
      expect(await blobs.list('x')).toEqual([{ name: 'x/y/z', sizeBytes: 50_000 }]);
    });

    test('an empty blob is a blob; changing the bytes that were found changes nothing', async () => {
      const blobs = await open();
      expect(await blobs.put('empty', bytes(''))).toEqual({ sizeBytes: 0 });
      expect(text(await blobs.find('empty'))).toBe('');
      expect(await readAll((await blobs.stream('empty'))!)).toEqual(Buffer.alloc(0));
      await blobs.put('x', bytes('mine'));
      (await blobs.find('x'))!.fill(0);
      expect(text(await blobs.find('x'))).toBe('mine');
    });

    test('a blob has no blobs under it', async () => {
      const blobs = await open();
      await blobs.put('a/b', bytes('blob'));
      await expect(blobs.put('a', bytes(''))).rejects.toThrow();
      await expect(blobs.put('a/b/c', bytes(''))).rejects.toThrow();
      expect(await blobs.find('a/b/c')).toBeNull();
      expect(await blobs.stream('a/b/c')).toBeNull();
      expect(await blobs.stream('a')).toBeNull();
      expect(await blobs.findDirectory('a/b')).toBeNull();
      expect(await blobs.list('a/b')).toEqual([]);
      await blobs.delete('a/b/c');
      expect(text(await blobs.find('a/b'))).toBe('blob');
    });

    test('lists and deletes everything under a prefix, twice if asked', async () => {
      const blobs = await open();
      for (const each of ['m/2', 'm/1/x', 'm/1/y', 'm-other']) await blobs.put(each, bytes(each));
      expect((await blobs.list('m')).map((blob) => blob.name)).toEqual(['m/1/x', 'm/1/y', 'm/2']);
      await blobs.delete('m/1');
      await blobs.delete('m/1');
      expect((await blobs.list('m')).map((blob) => blob.name)).toEqual(['m/2']);
      expect(await blobs.list('nothing')).toEqual([]);
      expect(text(await blobs.find('m-other'))).toBe('m-other');
      await blobs.delete('m/2');
      expect(await blobs.list('m')).toEqual([]);
      expect(await blobs.findDirectory('m')).toBeNull();
      await blobs.delete('never/was');
    });

    test('a file of a directory that cannot be opened fails the put, and nothing else', async () => {
      const blobs = await open();
      const source = await mkdtemp(join(tmpdir(), 'whetstone-blob-test-'));
      onTestFinished(() => rm(source, { recursive: true }));
      await symlink(join(source, 'gone'), join(source, 'one.json'));
      await expect(blobs.putDirectory('d/unreadable', source)).rejects.toThrow('ENOENT');
      expect(await blobs.list('d/unreadable')).toEqual([]);
    });

    test('directories go in and come out with the same files', async () => {
      const blobs = await open();
      const source = await mkdtemp(join(tmpdir(), 'whetstone-blob-test-'));
      onTestFinished(() => rm(source, { recursive: true }));
      await writeFile(join(source, 'one.json'), '1');
      await writeFile(join(source, 'two.bin'), '22');
      await blobs.putDirectory('d/e', source);
      expect(await blobs.list('d')).toEqual([
        { name: 'd/e/one.json', sizeBytes: 1 },
        { name: 'd/e/two.bin', sizeBytes: 2 },
      ]);
      const directory = (await blobs.findDirectory('d/e'))!;
      expect((await readdir(directory)).sort()).toEqual(['one.json', 'two.bin']);
      expect(await readFile(join(directory, 'two.bin'), 'utf8')).toBe('22');
      expect(await blobs.findDirectory('d/none')).toBeNull();
    });

    test.each([
      '',
      '/',
      '/a',
      'a/',
      'a//b',
      '../a',
      'a/../b',
      '.',
      '.hidden',
      'a/.b',
      'a b',
      'a\\b',
      'ü',
      'a/..',
      '..',
      'a/./b',
      'a\0b',
      'C:\\x',
      '%2e%2e/a',
      'x'.repeat(256),
      Array.from({ length: 300 }, () => 'x').join('/'),
    ])('refuses the name %j', async (bad) => {
      const blobs = await open();
      const refusal = { code: 'invalid_request', message: expect.stringContaining('blob name') as string };
      await expect(blobs.put(bad, bytes(''))).rejects.toMatchObject(refusal);
      await expect(blobs.put(bad, pieces('x'))).rejects.toMatchObject(refusal);
      await expect(blobs.find(bad)).rejects.toMatchObject(refusal);
      await expect(blobs.stream(bad)).rejects.toMatchObject(refusal);
      await expect(blobs.list(bad)).rejects.toMatchObject(refusal);
      await expect(blobs.delete(bad)).rejects.toMatchObject(refusal);
      await expect(blobs.findDirectory(bad)).rejects.toMatchObject(refusal);
    });
  });
}
