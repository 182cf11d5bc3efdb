import { expect, test } from 'vitest';
import { tinyConfig } from '../../test/support/learning/tiny-decoders.ts';
import { createLoraAdapter, linearLayers, loraParameters, loraScale, LAYER_TARGETS } from './lora.ts';

const layers = linearLayers(tinyConfig('llama'));

test('adapters sit on the seven linear layers of each block, named as PEFT names them', () => {
  const shapes = loraParameters(layers, { rank: 4, alpha: 8, rankStabilized: false, targets: LAYER_TARGETS });
  expect(shapes.length).toBe(2 * 7 * 2);
  expect(shapes[2]).toEqual({ name: 'base_model.model.model.layers.0.self_attn.k_proj.lora_A.weight', shape: [4, 16] });
  expect(shapes.at(-1)).toEqual({
    name: 'base_model.model.model.layers.1.mlp.down_proj.lora_B.weight',
    shape: [16, 4],
  });
});

test('a fresh adapter has uniform A within 1/√in, zero B, and is the same for the same seed', () => {
  const adapter = createLoraAdapter(layers, { rank: 8, alpha: 16, seed: 7 });
  const a = adapter.tensors.get('base_model.model.model.layers.0.mlp.down_proj.lora_A.weight')!;
  const bound = 1 / Math.sqrt(24);
  expect(a.every((x) => Math.abs(x) <= bound)).toBe(true);
  const variance = a.reduce((sum, x) => sum + x * x, 0) / a.length;
  expect(variance / (bound ** 2 / 3)).toBeGreaterThan(0.8);
  expect(variance / (bound ** 2 / 3)).toBeLessThan(1.2);
  for (const [name, tensor] of adapter.tensors) {
    expect(tensor.every((x) => x === 0)).toBe(name.includes('lora_B'));
  }
  expect(createLoraAdapter(layers, { rank: 8, alpha: 16, seed: 7 })).toEqual(adapter);
  expect(createLoraAdapter(layers, { rank: 8, alpha: 16, seed: 8 })).not.toEqual(adapter);
});

test('the scale is alpha over rank, or over its root when rank-stabilized', () => {
  const shape = { rank: 16, alpha: 8, targets: LAYER_TARGETS };
  expect(loraScale({ ...shape, rankStabilized: false })).toBe(0.5);
  expect(loraScale({ ...shape, rankStabilized: true })).toBe(2);
});

test('targets can be named, and are kept in the order of the layers; the error for one that the model lacks names those it has', () => {
  const lora = { rank: 2, alpha: 4, seed: 1 };
  const adapter = createLoraAdapter(layers, { ...lora, targets: ['v_proj', 'q_proj', 'q_proj'], rankStabilized: true });
  expect(adapter).toMatchObject({ targets: ['q_proj', 'v_proj'], rankStabilized: true });
  expect([...adapter.tensors.keys()]).toHaveLength(2 * 2 * 2);
  expect(() => createLoraAdapter(layers, { ...lora, targets: ['q_proj', 'qkv_proj'] })).toThrow(
    'qkv_proj is not a linear layer of this base model, which has q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj, lm_head.',
  );
});

test('the head carries an adapter where it is named or asked for, and is not one of all linears', () => {
  const lora = { rank: 2, alpha: 4, seed: 1 };
  expect(createLoraAdapter(layers, lora).targets).toEqual(
    LAYER_TARGETS.filter((name) => !name.includes('_up_') && name !== 'qkv_proj'),
  );
  expect(createLoraAdapter(layers, { ...lora, attention: false, mlp: false, unembed: true }).targets).toEqual([
    'lm_head',
  ]);
  const adapter = createLoraAdapter(layers, { ...lora, targets: ['lm_head', 'q_proj'] });
  expect(adapter.targets).toEqual(['q_proj', 'lm_head']);
  expect(loraParameters(layers, adapter).slice(-2)).toEqual([
    { name: 'base_model.model.lm_head.lora_A.weight', shape: [2, 16] },
    { name: 'base_model.model.lm_head.lora_B.weight', shape: [19, 2] },
  ]);
  // Everything before the head has the same values as without it.
  const [first] = createLoraAdapter(layers, { ...lora, unembed: true }).tensors.values();
  expect(first).toEqual([...createLoraAdapter(layers, lora).tensors.values()][0]);
});
