import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLoraAdapter, linearLayers, loraParameters } from '#model-files/lora';
import { tinyConfig } from '../../../../test/support/learning/tiny-decoders.ts';
import { createAdamwState } from './adamw.ts';
import { findOptimizerFile, writeOptimizerFile } from './optimizer-file.ts';

const layers = linearLayers(tinyConfig('qwen3'));
const adapter = createLoraAdapter(layers, { rank: 4, alpha: 8, seed: 1 });

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'optimizer-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('the optimizer comes back with its moments and its count, or as null', async () => {
  const parameters = loraParameters(layers, adapter);
  expect(await findOptimizerFile(directory, parameters)).toBeNull();
  const state = createAdamwState(adapter.tensors);
  state.step = 12;
  for (const tensor of state.mean.values()) tensor.fill(0.25);
  for (const tensor of state.square.values()) tensor.fill(0.5);
  await writeOptimizerFile(directory, state, parameters);
  expect(await findOptimizerFile(directory, parameters)).toEqual(state);
});
