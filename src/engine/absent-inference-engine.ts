// The inference engine of a server without the role `serve`. It holds no model, so unloading returns at once, and every call that
// needs a model fails. It answers questions about sizes, which do not depend on where the model runs.
import { AppError } from '#domain/errors';
import { ROLE_DOES } from '#domain/role';
import type { GenerationStream, InferenceEngine } from './inference-engine.ts';

export function createAbsentInferenceEngine(
  sizes: Pick<InferenceEngine, 'contextLength' | 'vocabSize'>,
): InferenceEngine {
  const absent = (): AppError =>
    new AppError(
      'engine_unavailable',
      `This server has no inference engine because it runs without the role serve. Send the request to a server that has it (${ROLE_DOES.serve}).`,
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
