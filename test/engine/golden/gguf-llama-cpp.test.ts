// GGUF files that we write, run by llama.cpp: whole models with and without their adapter, and adapters with their base. Every
// greedy token of llama.cpp is our engine's likeliest one, or equally likely. Needs the benchmarks' peers (`npm install --prefix
// bench/peers --ignore-scripts`), and is skipped without them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linearLayers } from '#model-files/lora';
import { readPeftDirectory } from '#model-files/peft-directory';
import { readDecoderConfig } from '#model-files/decoder-config';
import { exportGgufAdapter, exportGgufModel } from '#model-files/gguf/export-gguf';
import { skipWithout } from '../../support/skipping.ts';
import { openModelFixture } from '../../support/golden/fixture.ts';
import { GGUF_FAMILIES, writeWholeModel } from './gguf-models.ts';
import { findLlamaCpp, type LlamaCpp } from './llama-cpp.ts';
import { openServingForward } from '../../support/golden/serving-forward.ts';

const llamaCpp = await findLlamaCpp();
const STEPS = 16;
/** llama.cpp keeps keys and values as halves. */
const TOLERANCE = 0.02;

describe('in llama.cpp', skipWithout('LLAMA_CPP', llamaCpp !== null), () => {
  let scratch: string;
  let llama: LlamaCpp;
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'whetstone-llama-cpp-'));
    llama = await llamaCpp!();
  });
  afterAll(async () => {
    await llama.close();
    await rm(scratch, { recursive: true });
  });

  test.each(GGUF_FAMILIES)('%s takes the tokens that our engine takes', async (family) => {
    const base = join(scratch, family);
    await writeWholeModel(family, base);
    const { adapter, expected } = await openModelFixture(family);
    const prompt = [...expected.sequences.longer];
    const config = await readDecoderConfig(base);
    const lora = await readPeftDirectory(adapter, linearLayers(config));
    const file = (name: string) => join(scratch, `${family}-${name}.gguf`);
    await exportGgufModel({ base, adapter: null, out: file('base'), name: 'tiny' }, 'F32');
    await exportGgufModel({ base, adapter, out: file('merged'), name: 'tiny' }, 'F32');
    await exportGgufAdapter({ base, adapter, out: file('adapter'), name: 'tiny' });
    const forward = await openServingForward(config, base);
    for (const [name, path, beside, loaded] of [
      ['base', file('base'), null, null],
      ['merged', file('merged'), null, lora],
      ['beside', file('base'), file('adapter'), lora],
    ] as const) {
      const taken = await llama.greedy(path, beside, prompt, STEPS);
      const [logits] = await forward.logits([[...prompt, ...taken]], loaded);
      const behind = taken.map((token, step) => {
        const start = (prompt.length - 1 + step) * config.vocab;
        const row = logits!.subarray(start, start + config.vocab);
        return Math.max(...row) - row[token]!;
      });
      expect(taken, name).toHaveLength(STEPS);
      expect(Math.max(...behind), `${name}: ${behind.map((x) => x.toFixed(3)).join(' ')}`).toBeLessThan(TOLERANCE);
    }
    await forward.close();
  });
});
