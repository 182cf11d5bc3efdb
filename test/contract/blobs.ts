// What every BlobStore promises. Signed by memory.ts and blobs/filesystem.ts; a factory gives an empty store.
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BlobStore } from '#storage/blobs';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (content: Uint8Array | null): string | null => (content === null ? null : Buffer.from(content).toString());

async function* pieces(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield bytes(part);
}

export function blobContract(name: string, open: () => Promise<BlobStore>): void {
  describe(`${name} keeps the blob contract`, () => {
    test('what was put is found, whole, as bytes and as a stream', async () => {
      const blobs = await open();
      expect(await blobs.put('a/b/c.json', bytes('first'))).toEqual({ sizeBytes: 5 });
      expect(await blobs.put('a/b/c.json', pieces('sec', '', 'ond'))).toEqual({ sizeBytes: 6 });
      expect(text(await blobs.find('a/b/c.json'))).toBe('second');
      let streamed = '';
      for await (const chunk of (await blobs.stream('a/b/c.json'))!) streamed += Buffer.from(chunk).toString();
      expect(streamed).toBe('second');
      expect(await blobs.find('a/b')).toBeNull();
      expect(await blobs.find('a/none')).toBeNull();
      expect(await blobs.stream('a/none')).toBeNull();
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

    test('lists what is under a prefix and deletes it, twice if asked', async () => {
      const blobs = await open();
      for (const each of ['m/2', 'm/1/x', 'm/1/y', 'm-other']) await blobs.put(each, bytes(each));
      expect((await blobs.list('m')).map((blob) => blob.name)).toEqual(['m/1/x', 'm/1/y', 'm/2']);
      await blobs.delete('m/1');
      await blobs.delete('m/1');
      expect((await blobs.list('m')).map((blob) => blob.name)).toEqual(['m/2']);
      expect(await blobs.list('nothing')).toEqual([]);
      expect(text(await blobs.find('m-other'))).toBe('m-other');
    });

    test('directories go in and come out with the same files', async () => {
      const blobs = await open();
      const source = await mkdtemp(join(tmpdir(), 'whetstone-blob-test-'));
      await writeFile(join(source, 'one.json'), '1');
      await writeFile(join(source, 'two.bin'), '22');
      await blobs.putDirectory('d/e', source);
      const directory = (await blobs.openDirectory('d/e'))!;
      expect((await readdir(directory)).sort()).toEqual(['one.json', 'two.bin']);
      expect(await readFile(join(directory, 'two.bin'), 'utf8')).toBe('22');
      expect(await blobs.openDirectory('d/none')).toBeNull();
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
      'x'.repeat(600),
    ])('refuses the name %j', async (bad) => {
      const blobs = await open();
      await expect(blobs.put(bad, bytes(''))).rejects.toThrow('blob name');
      await expect((async () => blobs.find(bad))()).rejects.toThrow('blob name');
    });
  });
}
