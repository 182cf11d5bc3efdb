// Batches of 1 to 16 adapters of mixed ranks, two thirds of them also on the head, with sequences that have none, while prompts
// arrive in chunks and sequences join and leave: in every family and precision, each request gets the same bits as alone.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { silentLog } from '#base/log';
import type { ServingPrecision } from '#engine/capabilities';
import type { AdapterRef } from '#engine/inference-engine';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { readDecoderConfig, type DecoderConfig } from '#model-files/decoder-config';
import { createLoraAdapter, linearLayers } from '#model-files/lora';
import { writePeftDirectory } from '#model-files/peft-directory';
import {
  bitsOf,
  collect,
  collectLate,
  randomPrompt,
  request,
  sampling,
} from '../../support/contract/inference-engine.ts';
import { FAMILIES, openModelFixture, type FamilyName } from '../../support/golden/fixture.ts';
import { TEST_LIMITS } from '../../support/serving/test-limits.ts';

const RANKS = [8, 3, 32, 16, 5, 8, 48, 1, 8, 12, 8, 24, 8, 7, 64, 8];

async function writeAdapters(directory: string, config: DecoderConfig): Promise<AdapterRef[]> {
  const layers = linearLayers(config);
  return Promise.all(
    RANKS.map(async (rank, i) => {
      const adapter = createLoraAdapter(layers, { rank, alpha: 2 * rank, seed: i, unembed: i % 3 > 0 });
      const random = createRandom(i);
      for (const data of adapter.tensors.values()) data.forEach((_, j) => (data[j] = (random.next() - 0.5) * 0.3));
      const own = await mkdtemp(join(directory, 'adapter-'));
      await writePeftDirectory(own, adapter, layers, 'test');
      return { id: `a${i}`, directory: own };
    }),
  );
}

const PRECISIONS: Readonly<Partial<Record<FamilyName, readonly ServingPrecision[]>>> = {
  qwen3: ['float32', 'int8', 'w8a8'],
  gemma2: ['float32', 'int8', 'w8a8'],
  qwen3_moe: ['float32', 'w8a8'],
};
const cases = [
  ...FAMILIES.flatMap((family) =>
    (PRECISIONS[family] ?? ['float32']).map((precision) => ({ family, precision, kvCacheDtype: 'float32' as const })),
  ),
  ...(['qwen3', 'gemma2'] as const).map((family) => ({
    family,
    precision: 'float32' as const,
    kvCacheDtype: 'float16' as const,
  })),
];

test.each(cases)('$family in $precision, cache in $kvCacheDtype', async ({ family, precision, kvCacheDtype }) => {
  const { model } = await openModelFixture(family);
  const config = await readDecoderConfig(model);
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-adapters-'));
  const adapters = await writeAdapters(directory, config);
  const engine = await openOnnxInferenceEngine({
    modelDirectory: model,
    precision,
    kvCacheDtype,
    threads: 2,
    limits: { ...TEST_LIMITS, maxAdapters: adapters.length, prefixCacheBytes: 0 },
    log: silentLog,
  });
  const longest = Math.min(90, config.maxPositions - 30);
  for (const count of [1, 2, 4, 16]) {
    const asked = Array.from({ length: 20 }, (_, i) =>
      request({
        promptTokens: randomPrompt(3 + ((i * 37) % longest), i, config.vocab),
        adapter: i % 5 === 4 ? null : adapters[(i * 3) % count]!,
        sampling: sampling({ seed: i, maxTokens: 2 + ((i * 7) % 13), temperature: 1 }),
      }),
    );
    const alone: unknown[] = [];
    for (const one of asked) alone.push((await collect(engine, one)).map(bitsOf));
    const [first, ...others] = asked;
    let late: unknown[] = [];
    const together = await collectLate(engine, first!, async () => {
      late = await Promise.all(others.map(async (one) => (await collect(engine, one)).map(bitsOf)));
    });
    expect([together.map(bitsOf), ...late], `${count} adapters`).toEqual(alone);
  }
  await engine.close();
  await rm(directory, { recursive: true, force: true });
});
