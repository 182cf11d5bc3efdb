// Stands where a server runs no sampler, because others do (role `serve`). Holds nothing, so that unloading is done at once;
// whatever would need a model fails. Answers questions about sizes, which are the same wherever the model runs.
import { AppError } from '#domain/errors';
import { ROLE_DOES } from '#domain/role';
import type { GenerationStream, InferenceEngine } from './inference-engine.ts';

export function createAbsentInferenceEngine(
  sizes: Pick<InferenceEngine, 'contextLength' | 'vocabSize'>,
): InferenceEngine {
  const absent = (): AppError =>
    new AppError(
      'engine_unavailable',
      `This server has no inference engine: it runs without the role serve. Send the request to one that has it (${ROLE_DOES.serve}).`,
      { retryAfterSeconds: 1 },
    );
  const stream: GenerationStream = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(absent()) }),
    cancelChoice: () => {},
  };
  return {
    ...sizes,
    generate: () => stream,
    prepare: () => Promise.reject(absent()),
    loadAdapter: () => Promise.reject(absent()),
    unloadAdapter: async () => {},
    status: () => ({
      ready: false,
      running: 0,
      waiting: 0,
      adapters: [],
      restarts: 0,
      lastFailure: 'this server runs without the role serve',
    }),
    close: async () => {},
  };
}
