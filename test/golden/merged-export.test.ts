// A merged model is a model like any other: it loads here without its adapter and gives the logits of base and adapter. What
// Transformers says of it is in peft-roundtrip.test.ts.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportMerged } from '#model-files/export-merged';
import { linearLayers } from '#model-files/lora';
import { readPeftDirectory } from '#model-files/peft-directory';
import { readDecoderConfig } from '#model-files/decoder-config';
import { openSafetensors } from '#model-files/safetensors';
import { maxDistance } from './distance.ts';
import { FAMILIES, openModelFixture, WITH_EXPERTS } from './fixture.ts';
import { openServingForward } from './serving-forward.ts';

let scratch: string;
beforeAll(async () => void (scratch = await mkdtemp(join(tmpdir(), 'whetstone-merged-'))));
afterAll(() => rm(scratch, { recursive: true }));

test.each(FAMILIES)('%s merged gives the logits of base and adapter; halves are rounded, not wrong', async (family) => {
  const { model, adapter: directory, expected } = await openModelFixture(family);
  const config = await readDecoderConfig(model);
  const adapter = await readPeftDirectory(directory, linearLayers(config));
  const tokens = [...expected.sequences.forty];
  const rowOf = (logits: Float32Array, t: number) => logits.subarray(t * config.vocab, (t + 1) * config.vocab);
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
    const byToken = tokens.map((_, t) => maxDistance(rowOf(logits!, t), rowOf(wanted!, t))).sort((a, b) => a - b);
    // Where two experts are nearly equal, rounded weights may choose the other one: that token is then another.
    const looked = WITH_EXPERTS.includes(family) && dtype !== 'F32' ? Math.floor(0.9 * tokens.length) : tokens.length;
    expect(byToken[looked - 1], dtype).toBeLessThan(tolerance);
    const tensors = await openSafetensors(out);
    expect(new Set(tensors.names().map((name) => tensors.dtype(name)))).toEqual(new Set([dtype]));
    await tensors.close();
    const { dtype: told } = JSON.parse(await readFile(join(out, 'config.json'), 'utf8')) as { dtype: string };
    expect(told).toBe({ F32: 'float32', F16: 'float16', BF16: 'bfloat16' }[dtype]);
  }
});

test('a directory that is there is not touched, and one that fails leaves nothing', async () => {
  const { model, adapter } = await openModelFixture('qwen3');
  const other = await openModelFixture('llama');
  const out = join(scratch, 'new');
  await expect(exportMerged({ base: other.model, adapter, out, dtype: 'F32' })).rejects.toThrow('does not fit');
  expect(await readdir(scratch)).not.toContain('new');
  await expect(exportMerged({ base: model, adapter, out: scratch, dtype: 'F32' })).rejects.toThrow('is there already');
});
