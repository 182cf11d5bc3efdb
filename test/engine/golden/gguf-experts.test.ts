// Experts in GGUF beyond gguf-model.test.ts and gguf-llama-cpp.test.ts: files from before April 2024, which have a tensor per
// expert, and features that llama.cpp's graphs do not have.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportGgufModel } from '#model-files/gguf/export-gguf';
import { openGgufFile } from '#model-files/gguf/gguf-file';
import type { GgufValue } from '#model-files/gguf/gguf-header';
import { makeGgufDirectory } from '#model-files/gguf/gguf-model';
import { writeGguf, type TensorToWrite, type TypedValue } from '#model-files/gguf/write-gguf';
import { openTensors } from '#model-files/open-tensors';
import { fixturePath, WITH_EXPERTS, type FamilyName } from '../../support/golden/fixture.ts';
import { writeWholeModel } from './gguf-models.ts';

let scratch: string;
beforeAll(async () => void (scratch = await mkdtemp(join(tmpdir(), 'whetstone-gguf-experts-'))));
afterAll(() => rm(scratch, { recursive: true }));

async function writeFloats(family: FamilyName, name: string): Promise<string> {
  const base = join(scratch, name);
  await writeWholeModel(family, base);
  await exportGgufModel({ base, adapter: null, out: `${base}.gguf`, name: 'tiny' }, 'F32');
  return `${base}.gguf`;
}

/** The file again, with expert stacks split, and more metadata. */
async function rewrite(path: string, out: string, more: Readonly<Record<string, number>> = {}): Promise<void> {
  const file = await openGgufFile(path);
  const tensors = [...file.tensors.values()].flatMap(({ name, shape }): TensorToWrite[] => {
    const [count, ...inner] = shape as [number, ...number[]];
    if (inner.length < 2) return [{ name, shape, type: 'F32', data: () => file.read(name) }];
    return Array.from({ length: count }, (_, expert) => ({
      name: name.replace('_exps.weight', `.${expert}.weight`),
      shape: inner,
      type: 'F32',
      data: () => file.read(name, { first: expert * inner[0]!, count: inner[0]! }),
    }));
  });
  const values = [...file.metadata, ...Object.entries(more)].map(([key, value]) => [key, typed(value)] as const);
  await writeGguf(out, Object.fromEntries(values), tensors);
  await file.close();
}

/** The type as our reader sees it, which only tells numbers from strings. */
function typed(value: GgufValue): TypedValue {
  const [first] = [value].flat() as [number | boolean | string];
  if (typeof first === 'number') return { type: 'f32', value };
  return { type: typeof first === 'boolean' ? 'bool' : 'string', value };
}

test.each(WITH_EXPERTS)('%s with a tensor per expert has the weights of its stacks', async (family) => {
  const path = await writeFloats(family, family);
  const older = join(scratch, `${family}-older.gguf`);
  await rewrite(path, older);
  const [stacked, alone] = await Promise.all(
    [path, older].map(async (each) => openTensors(await makeGgufDirectory(each, join(scratch, 'directories')))),
  );
  const names = stacked!.names();
  expect(names.filter((name) => name.includes('.experts.')).length).toBeGreaterThan(20);
  expect(alone!.names()).toEqual(names);
  for (const name of names) {
    expect(alone!.shape(name), name).toEqual(stacked!.shape(name));
    expect(await alone!.read(name), name).toEqual(await stacked!.read(name));
  }
  await stacked!.close();
  await alone!.close();
});

test('rows of an expert are read where they lie in its stack', async () => {
  const directory = await makeGgufDirectory(await writeFloats('mixtral', 'rows'), join(scratch, 'directories'));
  const tensors = await openTensors(directory);
  const name = 'model.layers.1.block_sparse_moe.experts.3.w2.weight';
  const [, columns] = tensors.shape(name) as [number, number];
  const whole = await tensors.read(name);
  const part = await tensors.read(name, { first: 5, count: 7 });
  expect(part).toEqual(whole.subarray(5 * columns, 12 * columns));
  await tensors.close();
});

test.each([
  [
    'experts in some layers',
    { mlp_only_layers: [1] },
    /llama\.cpp requires experts in all layers, and layer 1 has none/,
  ],
  ['weights that are not divided', { norm_topk_prob: false }, /divides the weights of experts by their sum/],
])('a model with %s is not written', async (_, change, message) => {
  const base = await mkdtemp(join(scratch, 'refused-'));
  await rm(base, { recursive: true });
  await writeWholeModel('qwen3_moe', base);
  const config = JSON.parse(await readFile(join(fixturePath('qwen3_moe/model'), 'config.json'), 'utf8')) as object;
  await writeFile(join(base, 'config.json'), JSON.stringify({ ...config, mlp_only_layers: [], ...change }));
  await expect(
    exportGgufModel({ base, adapter: null, out: `${base}.gguf`, name: 'tiny' }, 'F32'),
  ).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringMatching(message) as string });
});

test('experts in an architecture of which none are known are refused by its name', async () => {
  const out = join(scratch, 'qwen2-experts.gguf');
  await rewrite(await writeFloats('qwen2', 'qwen2'), out, { 'qwen2.expert_count': 4 });
  await expect(makeGgufDirectory(out, scratch)).rejects.toMatchObject({
    code: 'bad_model_files',
    message: expect.stringMatching(/route tokens to experts, which is not supported for architecture qwen2/) as string,
  });
});
