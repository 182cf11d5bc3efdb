// Our sampler under test, in this process.
import { silentLog } from '#base/log';
import { PLAIN_SAMPLING } from '#domain/sampling';
import type { ServingPrecision } from '#engine/capabilities';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { PLAIN_REQUEST, type AdapterRef } from '#engine/inference-engine';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { createSamplingClock, type Sampler, type SamplingTimes } from './sampling.ts';

export interface WhetstoneSampler extends Sampler {
  /** `adapters` are assigned to the prompts in turn. */
  generate(
    prompts: readonly (readonly number[])[],
    newTokens: number,
    adapters?: readonly AdapterRef[],
  ): Promise<SamplingTimes>;
}

export async function openWhetstone(
  modelDirectory: string,
  precision: ServingPrecision,
  threads: number,
): Promise<WhetstoneSampler> {
  const engine = await openOnnxInferenceEngine({
    modelDirectory,
    precision,
    threads,
    limits: { ...DEFAULT_INFERENCE_LIMITS, prefixCacheBytes: 0 }, // rounds repeat their prompts, and each must compute them
    log: silentLog,
  });
  const sampling = { ...PLAIN_SAMPLING, temperature: 0, seed: 1 };
  return {
    name: `whetstone ${precision}`,
    async generate(prompts, newTokens, adapters = []) {
      const clock = createSamplingClock();
      await Promise.all(
        prompts.map(async (promptTokens, i) => {
          const request = {
            ...PLAIN_REQUEST,
            requestId: `bench-${i}`,
            promptTokens,
            adapter: adapters[i % adapters.length] ?? null,
            n: 1,
            sampling: { ...sampling, maxTokens: newTokens },
          };
          for await (const _ of engine.generate(request, new AbortController().signal)) clock.token(i);
        }),
      );
      return clock.times();
    },
    close: () => engine.close(),
  };
}
