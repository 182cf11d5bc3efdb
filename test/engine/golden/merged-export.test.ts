// A merged model is an ordinary model: it loads here without its adapter and has the logits of base and adapter.
// peft-roundtrip.test.ts compares it with Transformers.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportMerged } from '#model-files/export-merged';
import { exportGgufAdapter, exportGgufModel } from '#model-files/gguf/export-gguf';
import { openGgufFile } from '#model-files/gguf/gguf-file';
import { makeGgufDirectory } from '#model-files/gguf/gguf-model';
import { createLoraAdapter, linearLayers } from '#model-files/lora';
import { readPeftDirectory, writePeftDirectory } from '#model-files/peft-directory';
import { readDecoderConfig } from '#model-files/decoder-config';
import { openSafetensors } from '#model-files/safetensors';
import { distancesByToken, maxDistance } from '../../support/golden/distance.ts';
import { FAMILIES, openModelFixture, WITH_EXPERTS } from '../../support/golden/fixture.ts';
import { writeWholeModel } from './gguf-models.ts';
import { openServingForward } from '../../support/golden/serving-forward.ts';

let scratch: string;
beforeAll(async () => void (scratch = await mkdtemp(join(tmpdir(), 'whetstone-merged-'))));
afterAll(() => rm(scratch, { recursive: true }));

test.each(FAMILIES)('%s merged has the logits of base and adapter; halves are rounded, not wrong', async (family) => {
  const { model, adapter: directory, expected } = await openModelFixture(family);
  const config = await readDecoderConfig(model);
  const adapter = await readPeftDirectory(directory, linearLayers(config));
  const tokens = [...expected.sequences.forty];
  const withAdapter = await openServingForward(config, model);
  const [wanted] = await withAdapter.logits([tokens], adapter);
  await withAdapter.close();
  for (const [dtype, tolerance] of [
    ['F32', 1e-4],
    ['F16', 0.02],
    ['BF16', 0.2],
  ] as const) {
    const out = join(scratch, `${family}-${dtype}`);
    await exportMerged({ base: model, adapter: directory, out, dtype });
    const merged = await openServingForward(await readDecoderConfig(out), out);
    const [logits] = await merged.logits([tokens], null);
    await merged.close();
    const looked = WITH_EXPERTS.includes(family) && dtype !== 'F32' ? Math.floor(0.9 * tokens.length) : tokens.length;
    expect(distancesByToken(logits!, wanted!, tokens.length)[looked - 1], dtype).toBeLessThan(tolerance);
    const tensors = await openSafetensors(out);
    expect(new Set(tensors.names().map((name) => tensors.dtype(name)))).toEqual(new Set([dtype]));
    await tensors.close();
    const { dtype: written } = JSON.parse(await readFile(join(out, 'config.json'), 'utf8')) as { dtype: string };
    expect(written).toBe({ F32: 'float32', F16: 'float16', BF16: 'bfloat16' }[dtype]);
  }
});

test('a directory that is there is not touched, and one that fails leaves nothing', async () => {
  const { model, adapter } = await openModelFixture('qwen3');
  const other = await openModelFixture('llama');
  const out = join(scratch, 'new');
  await expect(exportMerged({ base: other.model, adapter, out, dtype: 'F32' })).rejects.toThrow('does not fit');
  expect(await readdir(scratch)).not.toContain('new');
  await expect(exportMerged({ base: model, adapter, out: scratch, dtype: 'F32' })).rejects.toThrow('already exists');
});

test('weights of the base in other formats do not come along', async () => {
  const { adapter } = await openModelFixture('qwen3');
  const [base, out] = [join(scratch, 'several-formats'), join(scratch, 'one-format')];
  await writeWholeModel('qwen3', base);
  const others = [
    'pytorch_model.bin',
    'pytorch_model.bin.index.json',
    'tf_model.h5',
    'flax_model.msgpack',
    'qwen.gguf',
  ];
  for (const name of [...others, 'README.md']) await writeFile(join(base, name), '{}');
  await exportMerged({ base, adapter, out, dtype: 'F32' });
  const names = await readdir(out);
  expect(names).toEqual(expect.arrayContaining(['README.md', 'config.json', 'model.safetensors']));
  expect(names.filter((name) => others.includes(name))).toEqual([]);
});

test.each(['llama', 'qwen3', 'gemma2', 'granite'] as const)(
  'an adapter on the head of %s changes the logits and leaves what tokens are read by: safetensors and GGUF',
  async (family) => {
    const base = join(scratch, `head-${family}`);
    await writeWholeModel(family, base);
    const config = await readDecoderConfig(base);
    const layers = linearLayers(config);
    const adapter = createLoraAdapter(layers, { rank: 3, alpha: 5, seed: 2, targets: ['v_proj', 'lm_head'] });
    adapter.tensors.forEach((data) => data.forEach((_, i) => (data[i] = ((i * 37) % 11) / 40 - 0.12)));
    const directory = await mkdtemp(join(scratch, 'adapter-'));
    await writePeftDirectory(directory, adapter, layers, 'tiny');
    const tokens = [...(await openModelFixture(family)).expected.sequences.forty];
    const logitsOf = async (model: string, by: typeof adapter | null) => {
      const forward = await openServingForward(await readDecoderConfig(model), model);
      const [logits] = await forward.logits([tokens], by);
      await forward.close();
      return logits!;
    };
    const wanted = await logitsOf(base, adapter);
    expect(maxDistance(wanted, await logitsOf(base, null))).toBeGreaterThan(0.01);

    const out = join(scratch, `head-${family}-merged`);
    await exportMerged({ base, adapter: directory, out, dtype: 'F32' });
    expect((await readDecoderConfig(out)).tiedEmbeddings).toBe(false);
    expect(maxDistance(await logitsOf(out, null), wanted)).toBeLessThan(1e-4);
    const [before, after] = [await openSafetensors(base), await openSafetensors(out)];
    expect(await after.read('model.embed_tokens.weight')).toEqual(await before.read('model.embed_tokens.weight'));
    await Promise.all([before.close(), after.close()]);

    const file = join(scratch, `head-${family}.gguf`);
    const asGguf = exportGgufModel({ base, adapter: directory, out: file, name: 'tiny' }, 'F32');
    if (family === 'gemma2') await expect(asGguf).rejects.toThrow('one matrix for embedding and head');
    else {
      await asGguf;
      expect(maxDistance(await logitsOf(await makeGgufDirectory(file, scratch), null), wanted)).toBeLessThan(1e-4);
    }
    const alone = exportGgufAdapter({ base, adapter: directory, out: `${file}.adapter`, name: 'tiny' });
    if (config.tiedEmbeddings) await expect(alone).rejects.toThrow('Export the merged model');
    else {
      await alone;
      const { tensors } = await openGgufFile(`${file}.adapter`);
      expect(tensors.get('output.weight.lora_a')!.shape).toEqual([3, config.hidden]);
      expect(tensors.get('output.weight.lora_b')!.shape).toEqual([config.vocab, 3]);
    }
  },
);
