import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSafetensors, writeSafetensors, type NamedTensor } from './safetensors.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'safetensors-'));
});
afterAll(() => rm(directory, { recursive: true }));

const values = Float32Array.of(1, -2.5, 0.15625, 3e-5, 0, 448);
const tensors: NamedTensor[] = [
  { name: 'b.weight', shape: [2, 3], data: values, dtype: 'F32' },
  { name: 'a.weight', shape: [3], data: values.subarray(0, 3), dtype: 'BF16' },
  { name: 'c.scale', shape: [], data: Float32Array.of(0.1), dtype: 'F16' },
  { name: 'd.none', shape: [0, 4], data: new Float32Array(0), dtype: 'F32' },
];

/** A file as another program could have written it. */
async function rawFile(name: string, header: unknown, dataBytes: number): Promise<string> {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const path = join(directory, name);
  await writeFile(path, Buffer.concat([length, json, Buffer.alloc(dataBytes)]));
  return path;
}

test('written tensors are read back as float32, rounded to the stored dtype', async () => {
  const path = join(directory, 'round-trip.safetensors');
  await writeSafetensors(path, tensors);
  const source = await openSafetensors(path);
  expect(source.names()).toEqual(['a.weight', 'b.weight', 'c.scale', 'd.none']);
  expect(source.has('b.weight')).toBe(true);
  expect(source.has('e')).toBe(false);
  expect(source.shape('b.weight')).toEqual([2, 3]);
  expect(source.dtype('a.weight')).toBe('BF16');
  expect(await source.read('b.weight')).toEqual(values);
  expect(await source.read('a.weight')).toEqual(values.slice(0, 3));
  expect(await source.read('c.scale')).toEqual(Float32Array.of(0.0999755859375));
  expect(await source.read('d.none')).toEqual(new Float32Array(0));
  await source.close();
});

test('the bytes of a file depend only on its tensors, and no other file is left behind', async () => {
  const folder = join(directory, 'deterministic');
  await mkdir(folder);
  await writeSafetensors(join(folder, 'one'), tensors, { format: 'pt', alpha: '16' });
  await writeSafetensors(join(folder, 'two'), [...tensors].reverse(), { alpha: '16', format: 'pt' });
  expect((await readFile(join(folder, 'one'))).equals(await readFile(join(folder, 'two')))).toBe(true);
  expect(await readdir(folder)).toEqual(['one', 'two']);
});

test('the layout is the one of the format: aligned header, wide dtypes first, then names', async () => {
  const path = join(directory, 'layout.safetensors');
  await writeSafetensors(path, tensors);
  const bytes = await readFile(path);
  const length = Number(bytes.readBigUInt64LE(0));
  expect(length % 8).toBe(0);
  expect(JSON.parse(bytes.subarray(8, 8 + length).toString())).toEqual({
    __metadata__: { format: 'pt' },
    'b.weight': { dtype: 'F32', shape: [2, 3], data_offsets: [0, 24] },
    'd.none': { dtype: 'F32', shape: [0, 4], data_offsets: [24, 24] },
    'a.weight': { dtype: 'BF16', shape: [3], data_offsets: [24, 30] },
    'c.scale': { dtype: 'F16', shape: [], data_offsets: [30, 32] },
  });
  expect(bytes.length).toBe(8 + length + 32);
});

test('a tensor larger than one write and one read arrives whole', async () => {
  const data = Float32Array.from({ length: 2 ** 23 + 7 }, (_, i) => i % 251);
  const path = join(directory, 'large.safetensors');
  await writeSafetensors(path, [{ name: 'x', shape: [data.length], data, dtype: 'BF16' }]);
  const source = await openSafetensors(path);
  expect(Buffer.from((await source.read('x')).buffer).equals(Buffer.from(data.buffer))).toBe(true);
  await source.close();
});

test('float64 is read, more than one read of it', async () => {
  const doubles = Float64Array.from({ length: 2 ** 21 + 3 }, (_, i) => i / 3);
  const header = { x: { dtype: 'F64', shape: [doubles.length], data_offsets: [0, doubles.byteLength] } };
  const path = await rawFile('doubles.safetensors', header, 0);
  await appendFile(path, new Uint8Array(doubles.buffer));
  const source = await openSafetensors(path);
  const read = await source.read('x');
  expect(read.findIndex((value, i) => value !== Math.fround(doubles[i]!))).toBe(-1);
  expect(read).toHaveLength(doubles.length);
  await source.close();
});

test('a directory is opened through model.safetensors', async () => {
  const folder = join(directory, 'whole');
  await mkdir(folder);
  await writeSafetensors(join(folder, 'model.safetensors'), tensors);
  const source = await openSafetensors(folder);
  expect(source.names()).toHaveLength(4);
  await source.close();
});

test('a sharded directory reads as one source', async () => {
  const folder = join(directory, 'sharded');
  await mkdir(folder);
  await writeSafetensors(join(folder, 'model-1.safetensors'), tensors.slice(0, 1));
  await writeSafetensors(join(folder, 'model-2.safetensors'), tensors.slice(1, 3));
  const weightMap = {
    'b.weight': 'model-1.safetensors',
    'a.weight': 'model-2.safetensors',
    'c.scale': 'model-2.safetensors',
  };
  await writeFile(
    join(folder, 'model.safetensors.index.json'),
    JSON.stringify({ metadata: {}, weight_map: weightMap }),
  );
  const source = await openSafetensors(folder);
  expect(source.names()).toEqual(['a.weight', 'b.weight', 'c.scale']);
  expect(await source.read('a.weight')).toEqual(values.slice(0, 3));
  expect(await source.read('b.weight')).toEqual(values);
  await source.close();
});

test.each([
  ['escapes its directory', { x: '../model-1.safetensors' }, /shard "\.\.\/model-1\.safetensors"/],
  [
    'names a shard without the tensor',
    { x: 'model-1.safetensors' },
    /tensor x .*model-1\.safetensors, which does not have it/,
  ],
  ['names a shard that is missing', { x: 'model-9.safetensors' }, /model-9\.safetensors: it cannot be opened/],
])('an index that %s is refused', async (name, weightMap, message) => {
  const folder = join(directory, name);
  await mkdir(folder);
  await writeSafetensors(join(folder, 'model-1.safetensors'), tensors.slice(0, 1));
  await writeFile(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map: weightMap }));
  await expect(openSafetensors(folder)).rejects.toMatchObject({
    code: 'bad_model_files',
    message: expect.stringMatching(message) as string,
  });
});

const f32 = (begin: number, end: number, shape = [(end - begin) / 4]) => ({
  dtype: 'F32',
  shape,
  data_offsets: [begin, end],
});

test.each([
  ['invalid JSON', '{"x": ', 0, /not valid JSON/],
  ['a list', [], 0, /not a JSON object/],
  ['an unknown dtype', { x: { ...f32(0, 8), dtype: 'Q4' } }, 8, /tensor x .*unknown dtype "Q4"/],
  ['a negative size', { x: f32(0, 8, [-2]) }, 8, /tensor x .*shape is \[-2\]/],
  ['a range beyond the end', { x: f32(0, 16) }, 8, /tensor x .*0…16 lie outside the 8 data bytes/],
  [
    'a shape that does not fit its range',
    { x: f32(0, 8, [3]) },
    8,
    /tensor x .*F32 \[3\] needs 12 bytes, its data_offsets hold 8/,
  ],
  ['overlapping ranges', { x: f32(0, 8), y: f32(4, 12) }, 12, /tensor y .*overlaps/],
  ['a gap', { x: f32(0, 8), y: f32(12, 16) }, 16, /tensor y .*gap/],
  ['bytes that no tensor owns', { x: f32(0, 8) }, 12, /describes \d+ bytes but the file has \d+/],
])('a header with %s is refused with file and reason', async (name, header, dataBytes, message) => {
  const path = await rawFile(`bad ${name}.safetensors`, header, dataBytes);
  const rejection = expect(openSafetensors(path)).rejects;
  await rejection.toMatchObject({ code: 'bad_model_files', message: expect.stringMatching(message) as string });
  await expect(openSafetensors(path)).rejects.toThrow(path);
});

test('a header that claims more bytes than the file has is refused before it is read', async () => {
  const path = join(directory, 'length.safetensors');
  await writeFile(path, Buffer.from([255, 255, 255, 255, 255, 255, 255, 0, 123, 125]));
  await expect(openSafetensors(path)).rejects.toThrow(/header claims/);
  await writeFile(path, Buffer.from([1, 2]));
  await expect(openSafetensors(path)).rejects.toThrow(/too few for a header/);
});

test('integers are listed but cannot be read as weights', async () => {
  const source = await openSafetensors(
    await rawFile('i64.safetensors', { x: { dtype: 'I64', shape: [1], data_offsets: [0, 8] } }, 8),
  );
  expect(source.dtype('x')).toBe('I64');
  await expect(source.read('x')).rejects.toMatchObject({ code: 'bad_model_files' });
  expect(() => source.shape('y')).toThrow(/No tensor y in .*i64\.safetensors/);
  await source.close();
});

test('a path with nothing there, and a directory without weights, say so', async () => {
  await expect(openSafetensors(join(directory, 'absent'))).rejects.toThrow(/No safetensors file or model directory/);
  const folder = join(directory, 'empty');
  await mkdir(folder);
  await expect(openSafetensors(folder)).rejects.toThrow(/neither model\.safetensors nor/);
});
