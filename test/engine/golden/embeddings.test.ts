// The hidden states from which embeddings are made, compared with Transformers and PEFT: through the engine, in chunks, and in
// batches.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { PLAIN_REQUEST, type AdapterRef, type InferenceEngine } from '#engine/inference-engine';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { maxDistance } from '../../support/golden/distance.ts';
import {
  FAMILIES,
  fixturePath,
  readFixture,
  SEQUENCES,
  type FamilyName,
  type ModelExpectations,
} from '../../support/golden/fixture.ts';

type Vectors = Readonly<Record<(typeof SEQUENCES)[number], readonly number[]>>;
interface Expected {
  readonly tolerance: number;
  readonly families: Readonly<Record<FamilyName, Readonly<Record<'base' | 'adapter', Vectors>>>>;
}

const { tolerance, families } = readFixture<Expected>('embeddings.json');
const never = new AbortController().signal;

describe.each(FAMILIES)('%s', (family) => {
  const { sequences } = readFixture<ModelExpectations>(`${family}/expected.json`);
  const adapter = { id: 'peft', directory: fixturePath(`${family}/adapter`) };
  let engine: InferenceEngine;
  beforeAll(async () => {
    const limits = { ...DEFAULT_INFERENCE_LIMITS, cacheBytes: 2 ** 24, prefillChunk: 16 };
    const modelDirectory = fixturePath(`${family}/model`);
    engine = await openOnnxInferenceEngine({ modelDirectory, threads: 1, limits, log: silentLog });
  });
  afterAll(() => engine.close());

  async function embed(promptTokens: readonly number[], by: AdapterRef | null): Promise<Float32Array> {
    const sampling = { ...PLAIN_SAMPLING, temperature: 0, maxTokens: 1 };
    const request = { ...PLAIN_REQUEST, requestId: 'e', promptTokens, adapter: by, sampling, n: 1, embed: true };
    for await (const { prompt } of engine.generate(request, never)) {
      const length = Math.hypot(...prompt!.lastHidden!);
      return Float32Array.from(prompt!.lastHidden!, (value) => value / length);
    }
    throw new Error('no token came');
  }

  test.each([
    ['base', null],
    ['adapter', adapter],
  ] as const)('the last hidden states of the %s are those of Transformers, also a second time', async (name, by) => {
    for (let time = 0; time < 2; time++) {
      const vectors = await Promise.all(SEQUENCES.map((sequence) => embed(sequences[sequence], by)));
      for (const [i, sequence] of SEQUENCES.entries()) {
        const expected = Float32Array.from(families[family][name][sequence]);
        expect(maxDistance(vectors[i]!, expected), sequence).toBeLessThan(tolerance);
      }
    }
  });
});
