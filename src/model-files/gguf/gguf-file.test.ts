// GGUF files: intact ones return their values, and every broken one is refused in a sentence that says what is wrong.
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGgufFile } from './gguf-file.ts';
import { writeGguf, type TypedValue } from './write-gguf.ts';

let scratch: string;
let path: string;
const VALUES = Float32Array.from({ length: 128 }, (_, i) => Math.sin(i) / 3);
beforeAll(async () => void (scratch = await mkdtemp(join(tmpdir(), 'whetstone-gguf-'))));
afterAll(() => rm(scratch, { recursive: true }));

async function write(metadata: Record<string, TypedValue> = {}): Promise<Buffer<ArrayBuffer>> {
  path = join(scratch, 'model.gguf');
  const tensor = { shape: [2, 64], data: () => Promise.resolve(VALUES) };
  const tensors = [
    { name: 'exact', type: 'F32', ...tensor },
    { name: 'bytes', type: 'Q8_0', ...tensor },
    { name: 'halves', type: 'F16', ...tensor },
  ] as const;
  await writeGguf(path, metadata, tensors);
  return readFile(path);
}

test('a written file is read back: metadata of every type, tensors with their shapes, rounded as their types say', async () => {
  const metadata: Record<string, TypedValue> = {
    'general.architecture': { type: 'string', value: 'llama' },
    size: { type: 'u32', value: 4_000_000_000 },
    negative: { type: 'i32', value: -7 },
    ratio: { type: 'f32', value: 0.5 },
    flag: { type: 'bool', value: true },
    tokens: { type: 'string', value: ['Ġhello', '世界', ''] },
    kinds: { type: 'i32', value: [1, 3, 6] },
    none: { type: 'string', value: [] },
  };
  await write(metadata);
  const file = await openGgufFile(path);
  expect(Object.fromEntries(file.metadata)).toEqual(
    Object.fromEntries(Object.entries(metadata).map(([key, { value }]) => [key, value])),
  );
  expect([...file.tensors.keys()]).toEqual(['exact', 'bytes', 'halves']);
  expect(file.tensors.get('bytes')!.shape).toEqual([2, 64]);
  expect(await file.read('exact')).toEqual(VALUES);
  for (const [name, distance] of [
    ['bytes', 0.0015],
    ['halves', 0.0002],
  ] as const) {
    const values = await file.read(name);
    expect(
      values.every((value, i) => Math.abs(value - VALUES[i]!) < distance),
      name,
    ).toBe(true);
    expect(values).not.toEqual(VALUES);
  }
  await file.close();
});

const changed = (bytes: Buffer, at: number, value: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy.writeUInt32LE(value, at);
  return copy;
};
const typeOf = (bytes: Buffer, tensor: string): number => bytes.indexOf(tensor) + tensor.length + 4 + 2 * 8;

test.each<[string, (bytes: Buffer) => Buffer, RegExp]>([
  ['another magic', (bytes) => changed(bytes, 0, 0), /it is not a GGUF file: it does not begin with GGUF/],
  ['an empty file', () => Buffer.alloc(0), /does not begin with GGUF/],
  ['a few bytes', (bytes) => bytes.subarray(0, 12), /it has 12 bytes, too few for a header/],
  ['version 1', (bytes) => changed(bytes, 4, 1), /GGUF version 1 is not supported; versions 2 and 3 are/],
  ['version 4', (bytes) => changed(bytes, 4, 4), /GGUF version 4 is not supported/],
  ['big-endian', (bytes) => changed(bytes, 4, 0x03000000), /it is big-endian\. Convert it to little-endian/],
  [
    'half a header',
    (bytes) => bytes.subarray(0, 100),
    /it is truncated or damaged: .*, and the file has 100\. Download/,
  ],
  [
    'half its weights',
    (bytes) => bytes.subarray(0, 800),
    /it is truncated: tensor bytes ends at byte \d+, the file has 800/,
  ],
  ['a length beyond the file', (bytes) => changed(bytes, 16, 2 ** 31), /it is truncated or damaged/],
  [
    'IQ4_XS',
    (bytes) => changed(bytes, typeOf(bytes, 'exact'), 23),
    /tensor exact has the type IQ4_XS, .* F32, F16, .*Q6_K/,
  ],
  ['a new type', (bytes) => changed(bytes, typeOf(bytes, 'exact'), 99), /tensor exact has the type 99 \(unknown\)/],
  [
    'rows that are not whole blocks',
    (bytes) => changed(bytes, typeOf(bytes, 'exact'), 14),
    /rows of 64 values, .* not a multiple of the block size of Q6_K/,
  ],
])('%s is refused', async (_, change, message) => {
  await writeFile(path, change(await write({ 'general.architecture': { type: 'string', value: 'llama' } })));
  await expect(openGgufFile(path)).rejects.toMatchObject({
    code: 'bad_model_files',
    message: expect.stringMatching(message) as string,
  });
});

test('a part of a split model is refused with how to join the parts', async () => {
  await write({ 'split.no': { type: 'u32', value: 1 }, 'split.count': { type: 'u32', value: 3 } });
  await expect(openGgufFile(path)).rejects.toThrow(
    /it is part 2 of 3 of a model\. Join the parts .*llama-gguf-split --merge/,
  );
});

test('a list of more items than any vocabulary has is refused before it becomes one', async () => {
  const bytes = Buffer.alloc(11_000_000);
  bytes.write('GGUF');
  bytes.writeUInt32LE(3, 4);
  bytes.writeBigUInt64LE(1n, 16); // one key, without a name
  bytes.writeUInt32LE(9, 32); // a list
  bytes.writeBigUInt64LE(10_900_000n, 40); // of bytes
  await writeFile((path = join(scratch, 'long.gguf')), bytes);
  await expect(openGgufFile(path)).rejects.toThrow(/its header has more than 10000000 entries/);
});

test('a length within a file of gigabytes is refused without reading them', async () => {
  const liar = join(scratch, 'liar.gguf');
  const bytes = Buffer.alloc(64);
  bytes.write('GGUF');
  bytes.writeUInt32LE(3, 4);
  bytes.writeBigUInt64LE(1n, 16); // one key
  bytes.writeBigUInt64LE(5_000_000_000n, 24); // of so many bytes
  await writeFile(liar, bytes);
  await truncate(liar, 6_000_000_000); // sparse
  const before = process.memoryUsage().rss;
  await expect(openGgufFile(liar)).rejects.toMatchObject({
    code: 'bad_model_files',
    message: expect.stringMatching(/begins something of 5000000000 bytes, and a header has at most/) as string,
  });
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
});
