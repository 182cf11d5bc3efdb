// Our reader and writer compared with files of the safetensors and PyTorch packages.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSafetensors, writeSafetensors, type StoredDtype } from '#model-files/safetensors';
import { FAMILIES, fixturePath, openModelFixture, readFixture } from '../../support/golden/fixture.ts';

interface Expected {
  tensors: Record<string, { shape: number[]; float32Bits: number[] }>;
}
const expected = readFixture<Expected>('safetensors/expected.json').tensors;
const mixed = fixturePath('safetensors/mixed.safetensors');

const DTYPES: Record<string, StoredDtype> = { float32: 'F32', float16: 'F16', bfloat16: 'BF16' };
const dtypeOf = (name: string): StoredDtype => DTYPES[name.split('.')[0]!]!;
const floats = (bits: readonly number[]): Float32Array => new Float32Array(Uint32Array.from(bits).buffer);

test('every bit of F32, F16 and BF16 tensors is read as PyTorch reads it', async () => {
  const source = await openSafetensors(mixed);
  expect([...source.names()].sort()).toEqual(Object.keys(expected).sort());
  for (const [name, { shape, float32Bits }] of Object.entries(expected)) {
    expect(source.dtype(name)).toBe(dtypeOf(name));
    expect(source.shape(name)).toEqual(shape);
    const data = await source.read(name);
    expect([...new Uint32Array(data.buffer, data.byteOffset, data.length)], name).toEqual(float32Bits);
  }
  await source.close();
});

test('float32 numbers written as F32, F16 and BF16 give the very file that the reference packages write', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-golden-'));
  try {
    const path = join(directory, 'ours.safetensors');
    await writeSafetensors(
      path,
      Object.keys(expected).map((name) => {
        const { shape, float32Bits } = expected[`float32.${name.split('.')[1]}`]!;
        return { name, shape, data: floats(float32Bits), dtype: dtypeOf(name) };
      }),
    );
    expect((await readFile(path)).equals(await readFile(mixed))).toBe(true);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test.each(FAMILIES)('the %s model is read whole, from one file or from shards', async (family) => {
  const { model } = await openModelFixture(family);
  const source = await openSafetensors(model);
  const { vocab_size, hidden_size } = readFixture<Record<string, number>>(`${family}/model/config.json`);
  expect(source.shape('model.embed_tokens.weight')).toEqual([vocab_size, hidden_size]);
  expect(source.dtype('model.norm.weight')).toBe(family === 'qwen2' ? 'BF16' : 'F32');
  for (const name of source.names()) {
    const size = source.shape(name).reduce((product, dim) => product * dim, 1);
    expect(await source.read(name), name).toHaveLength(size);
  }
  await source.close();
});
