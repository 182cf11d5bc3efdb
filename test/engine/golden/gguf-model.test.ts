// Models written as GGUF and read again: every family keeps its weights, its configuration and its logits.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDecoderConfig } from '#model-files/decoder-config';
import { exportGgufModel } from '#model-files/gguf/export-gguf';
import { makeGgufDirectory } from '#model-files/gguf/gguf-model';
import { openTensors } from '#model-files/open-tensors';
import { distancesByToken } from '../../support/golden/distance.ts';
import { openModelFixture, WITH_EXPERTS } from '../../support/golden/fixture.ts';
import { GGUF_FAMILIES, writeWholeModel } from './gguf-models.ts';
import { openServingForward } from '../../support/golden/serving-forward.ts';

let scratch: string;
beforeAll(async () => void (scratch = await mkdtemp(join(tmpdir(), 'whetstone-gguf-'))));
afterAll(() => rm(scratch, { recursive: true }));

test.each(GGUF_FAMILIES)('%s as GGUF is the same model', async (family) => {
  const base = join(scratch, family);
  await writeWholeModel(family, base);
  const { expected } = await openModelFixture(family);
  const tokens = [...expected.sequences.forty];
  const original = await openServingForward(await readDecoderConfig(base), base);
  const [wanted] = await original.logits([tokens], null);
  await original.close();
  for (const [type, tolerance] of [
    ['F32', expected.tolerance.logits],
    ['BF16', 0.2],
    ['Q8_0', 0.2],
  ] as const) {
    const out = join(scratch, `${family}-${type}.gguf`);
    await exportGgufModel({ base, adapter: null, out, name: 'tiny' }, type);
    const directory = await makeGgufDirectory(out, join(scratch, 'directories'));
    const model = await openServingForward(await readDecoderConfig(directory), directory);
    const [logits] = await model.logits([tokens], null);
    await model.close();
    const looked = WITH_EXPERTS.includes(family) && type !== 'F32' ? Math.floor(0.9 * tokens.length) : tokens.length;
    expect(distancesByToken(logits!, wanted!, tokens.length)[looked - 1], type).toBeLessThan(tolerance);
  }
});

test('config.json has what others load a merged model by: its class, and floats where Transformers takes nothing else', async () => {
  const base = join(scratch, 'caps');
  await writeWholeModel('gemma2', base);
  const out = join(scratch, 'caps.gguf');
  await exportGgufModel({ base, adapter: null, out, name: 'tiny' }, 'F32');
  const config = await readFile(join(await makeGgufDirectory(out, scratch), 'config.json'), 'utf8');
  for (const part of ['"architectures":["Gemma2ForCausalLM"]', '"final_logit_softcapping":4.0', '"vocab_size":96,'])
    expect(config).toContain(part);
});

test('weights in float32 come back bit for bit, also those whose rows lie in pairs', async () => {
  const base = join(scratch, 'exact');
  await writeWholeModel('llama', base);
  const out = join(scratch, 'exact.gguf');
  await exportGgufModel({ base, adapter: null, out, name: 'exact' }, 'F32');
  const [before, after] = [await openTensors(base), await openTensors(await makeGgufDirectory(out, scratch))];
  expect(after.names()).toEqual(before.names());
  for (const name of before.names()) {
    expect(after.shape(name), name).toEqual(before.shape(name));
    const whole = await before.read(name);
    expect(await after.read(name), name).toEqual(whole);
    const [rows] = before.shape(name) as [number];
    const columns = whole.length / rows;
    const part = { first: Math.floor(rows / 3), count: Math.ceil(rows / 2) };
    const wanted = whole.subarray(part.first * columns, (part.first + part.count) * columns);
    for (const source of [before, after]) expect(await source.read(name, part), name).toEqual(wanted);
  }
  await before.close();
  await after.close();
});
