// Uploaded adapters that are made to cost or to overflow are refused, and meanwhile the event loop goes on.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkAdapterElsewhere } from './check-adapter-elsewhere.ts';
import { parseDecoderConfig } from './decoder-config.ts';
import { createLoraAdapter, linearLayers } from './lora.ts';
import { ADAPTER_CONFIG_FILE, ADAPTER_WEIGHTS_FILE, writePeftDirectory } from './peft-directory.ts';

const config = parseDecoderConfig({
  model_type: 'llama',
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  intermediate_size: 32,
  vocab_size: 50,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-6,
});

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'whetstone-check-adapter-'))));
afterEach(() => rm(directory, { recursive: true }));

const layers = linearLayers(config);
const check = () => checkAdapterElsewhere({ directory, config, baseModel: 'tiny' });
/** An adapter whose A and B hold these values throughout. */
async function write(a: number, b: number, alpha = 16): Promise<void> {
  const adapter = createLoraAdapter(layers, { rank: 8, alpha, seed: 1, targets: ['q_proj', 'down_proj'] });
  for (const [name, values] of adapter.tensors) values.fill(name.includes('lora_A') ? a : b);
  await writePeftDirectory(directory, adapter, layers, 'tiny');
}

/** `{"tensor0": …, …}` behind its length. */
function manyTensors(count: number): Buffer {
  const entry = { dtype: 'F32', shape: [0], data_offsets: [0, 0] };
  const json = Buffer.from(
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, entry]))),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json]);
}

const manyKeys = (count: number): string =>
  JSON.stringify({ peft_type: 'LORA', ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 0])) });

test('an adapter as they are trained passes', async () => {
  await write(0.05, 0.02);
  await check();
});

test.each([
  ['values whose product overflows', 1e20, 1e20, 16, /may change a weight by 1\.60e\+41, more than 65504/],
  ['a scale that overflows', 0.05, 0.02, 1e30, /more than 65504: answers would overflow/],
  ['a value that is not finite', NaN, 0, 16, /value 0 of .*q_proj\.lora_A\.weight is NaN, not finite/],
])('%s: refused', async (_what, a, b, alpha, message) => {
  await write(a, b, alpha);
  await expect(check()).rejects.toMatchObject({
    code: 'bad_model_files',
    message: expect.stringMatching(message) as string,
  });
});

test.each([
  ['as many keys as fit in a config', ADAPTER_CONFIG_FILE, () => manyKeys(90_000)],
  ['more keys than that', ADAPTER_CONFIG_FILE, () => manyKeys(300_000)],
  ['as many tensors as fit in a header', ADAPTER_WEIGHTS_FILE, () => manyTensors(55_000)],
  ['more tensors than that', ADAPTER_WEIGHTS_FILE, () => manyTensors(100_000)],
])('%s: refused, and meanwhile the event loop goes on', async (_what, file, content) => {
  await write(0.05, 0.02);
  await writeFile(join(directory, file), content());
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await expect(check()).rejects.toMatchObject({ code: 'bad_model_files' });
  await setTimeout(20); // a wait is counted when it is over
  delay.disable();
  expect(delay.max / 1e6).toBeLessThan(250);
});
