import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TINY_CONFIGS, tinyConfig } from '../../test/support/learning/tiny-decoders.ts';
import { parseDecoderConfig } from './decoder-config.ts';
import { createLoraAdapter, linearLayers, loraParameters } from './lora.ts';
import { readPeftDirectory, writePeftDirectory } from './peft-directory.ts';
import { writeSafetensors } from './safetensors.ts';

const layers = linearLayers(tinyConfig('qwen3'));
const adapter = createLoraAdapter(layers, { rank: 4, alpha: 8, seed: 1 });

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'peft-'));
});
afterEach(() => rm(directory, { recursive: true }));

const file = (name: string) => readFile(join(directory, name));
const write = () => writePeftDirectory(directory, adapter, layers, 'tiny');
async function changeConfig(change: Record<string, unknown>): Promise<void> {
  const config = JSON.parse((await file('adapter_config.json')).toString()) as Record<string, unknown>;
  await writeFile(join(directory, 'adapter_config.json'), JSON.stringify({ ...config, ...change }));
}

test('an adapter is read back unchanged, and writes the same bytes again', async () => {
  await write();
  const read = await readPeftDirectory(directory, layers);
  expect(read).toEqual(adapter);
  const before = [await file('adapter_model.safetensors'), await file('adapter_config.json')];
  await writePeftDirectory(directory, read, layers, 'tiny');
  expect([await file('adapter_model.safetensors'), await file('adapter_config.json')]).toEqual(before);
});

test('the config contains what PEFT needs to load the adapter', async () => {
  await write();
  expect(JSON.parse((await file('adapter_config.json')).toString())).toMatchObject({
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    r: 4,
    lora_alpha: 8,
    base_model_name_or_path: 'tiny',
    target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
    inference_mode: true,
  });
});

test('an adapter for another base model is refused with the tensor and both shapes', async () => {
  await write();
  const other = linearLayers(parseDecoderConfig({ ...TINY_CONFIGS.qwen3, hidden_size: 32 }));
  await expect(readPeftDirectory(directory, other)).rejects.toMatchObject({
    code: 'bad_model_files',
    message: expect.stringMatching(/q_proj\.lora_A\.weight is \[4, 16\], the base model needs \[4, 32\]/) as string,
  });
});

test('tensors that are missing or have no place are named', async () => {
  await write();
  const config = tinyConfig('qwen3');
  const withLayers = (count: number) => readPeftDirectory(directory, linearLayers({ ...config, layers: count }));
  await expect(withLayers(3)).rejects.toThrow('model.layers.2.self_attn.q_proj.lora_A.weight [4, 16] is missing');
  await expect(withLayers(1)).rejects.toThrow(/model\.layers\.1\..* has no place in the base model/);
});

test('an adapter on some of the modules is read as that', async () => {
  const some = { ...adapter, targets: ['q_proj', 'down_proj'] as const };
  await writePeftDirectory(directory, some, layers, 'tiny');
  const read = await readPeftDirectory(directory, layers);
  expect(read.targets).toEqual(['q_proj', 'down_proj']);
  expect(read.tensors.size).toBe(2 * 2 * 2);
});

test('an adapter on the head is read back, with or without the copy of the head that PEFT saves with it', async () => {
  const onHead = createLoraAdapter(layers, { rank: 2, alpha: 4, seed: 1, targets: ['q_proj', 'lm_head'] });
  await writePeftDirectory(directory, onHead, layers, 'tiny');
  expect(await readPeftDirectory(directory, layers)).toEqual(onHead);
  const parameters = loraParameters(layers, onHead);
  const writeBeside = (shape: readonly [number, number]) =>
    writeSafetensors(
      join(directory, 'adapter_model.safetensors'),
      [...parameters, { name: 'base_model.model.lm_head.base_layer.weight', shape }].map(({ name, shape }) => ({
        name,
        shape,
        data: onHead.tensors.get(name) ?? new Float32Array(shape[0] * shape[1]),
        dtype: 'F32' as const,
      })),
    );
  await writeBeside([19, 16]);
  expect(await readPeftDirectory(directory, layers)).toEqual(onHead);
  await writeBeside([20, 16]); // of a model with more tokens
  await expect(readPeftDirectory(directory, layers)).rejects.toThrow('is [20, 16], the base model needs [19, 16]');
});

test.each([
  [{ use_dora: true }, 'use_dora'],
  [{ bias: 'all' }, 'bias all'],
  [{ rank_pattern: { q_proj: 8 } }, 'rank_pattern'],
  [{ modules_to_save: ['lm_head'] }, 'modules_to_save'],
  [{ layers_to_transform: [1] }, 'layers_to_transform'],
  [{ init_lora_weights: 'pissa_niter_4' }, 'init_lora_weights pissa_niter_4'],
  [{ peft_type: 'IA3' }, 'peft_type IA3'],
  [{ target_modules: ['q_proj', 'embed_tokens'] }, 'target module embed_tokens'],
  [{ target_modules: '.*_proj' }, 'pattern'],
  [{ r: 0 }, 'r'],
])('an unsupported adapter is refused by name: %j', async (change, words) => {
  await write();
  await changeConfig(change);
  const refusal = readPeftDirectory(directory, layers);
  await expect(refusal).rejects.toMatchObject({ code: 'bad_model_files' });
  await expect(refusal).rejects.toThrow(words);
});

test('rank-stabilized adapters keep their scale', async () => {
  await write();
  await changeConfig({ use_rslora: true });
  expect((await readPeftDirectory(directory, layers)).rankStabilized).toBe(true);
});

test('a directory without an adapter says so', async () => {
  await expect(readPeftDirectory(directory, layers)).rejects.toThrow(`No adapter at ${directory}`);
});

test('of a model with experts, adapters on attention alone are read and written; those on experts or the router are refused by name', async () => {
  const config = { ...TINY_CONFIGS.qwen3, model_type: 'qwen3_moe', num_experts: 2, num_experts_per_tok: 1 };
  const layers = linearLayers(parseDecoderConfig({ ...config, mlp_only_layers: [1] }));
  const attention = ['q_proj', 'k_proj', 'v_proj', 'o_proj'];
  const adapter = createLoraAdapter(layers, { rank: 4, alpha: 8, seed: 1 });
  expect(adapter.targets).toEqual(attention);
  expect(() => createLoraAdapter(layers, { rank: 4, alpha: 8, seed: 1, attention: false })).toThrow(
    /This base model has q_proj/,
  );
  await writePeftDirectory(directory, adapter, layers, 'tiny');
  await changeConfig({ target_modules: 'all-linear' });
  expect((await readPeftDirectory(directory, layers)).targets).toEqual(attention);

  await changeConfig({ target_modules: ['q_proj', 'gate'] });
  await expect(readPeftDirectory(directory, layers)).rejects.toThrow(/target module gate is not one of q_proj/);
  await changeConfig({ target_parameters: ['mlp.experts.down_proj'] });
  await expect(readPeftDirectory(directory, layers)).rejects.toThrow(/target_parameters is not supported/);

  const expert = {
    path: 'model.layers.0.mlp.experts.1.up_proj',
    target: 'up_proj' as const,
    inFeatures: 16,
    outFeatures: 24,
  };
  const onExperts = createLoraAdapter([...layers, expert], { rank: 4, alpha: 8, seed: 1 });
  await writePeftDirectory(directory, onExperts, [...layers, expert], 'tiny');
  await expect(readPeftDirectory(directory, layers)).rejects.toThrow(
    /mlp\.experts\.1\.up_proj.*adapters on experts are not supported/,
  );
});
