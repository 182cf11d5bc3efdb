// A sampler without a model: its tokens count up from the seed, so that a test knows what must arrive. Its speed is
// configurable.
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { AppError } from '#domain/errors';
import { createGenerationStream } from '#engine/generation-stream';
import type { AdapterRef, GenerateRequest, InferenceEngine } from '#engine/inference-engine';

export const COUNTING_VOCAB = 260;

/** A plausible model. */
export const COUNTING_CONFIG = {
  model_type: 'llama',
  hidden_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  intermediate_size: 48,
  vocab_size: COUNTING_VOCAB,
  max_position_embeddings: 4_096,
  rms_norm_eps: 1e-6,
};

export interface CountingEngine extends InferenceEngine {
  /** Ids of the requests, in order. */
  readonly asked: readonly string[];
  /** Directories by adapter id, as they were passed. */
  readonly loaded: ReadonlyMap<string, string>;
}

/** Token `index` of a choice. */
export const countedToken = (seed: number, index: number): number => (seed + index) % COUNTING_VOCAB;

export function createCountingEngine({ tokenMs = 0 }: { tokenMs?: number } = {}): CountingEngine {
  const asked: string[] = [];
  const loaded = new Map<string, string>();
  let running = 0;

  async function* count(request: GenerateRequest, ended: () => boolean) {
    const seed = request.sampling.seed ?? 0;
    for (let index = 0; index < request.sampling.maxTokens && !ended(); index++) {
      await (tokenMs > 0 ? delay(tokenMs) : setImmediate());
      const finishReason = index === request.sampling.maxTokens - 1 ? ('length' as const) : null;
      yield Array.from({ length: request.n }, (_, choiceIndex) => {
        const tokenId = countedToken(seed + choiceIndex, index);
        return { choiceIndex, tokenId, logprob: -1, topLogprobs: [], finishReason };
      });
    }
  }

  return {
    asked,
    loaded,
    contextLength: 4_096,
    vocabSize: COUNTING_VOCAB,
    generate(request, signal) {
      let hasLeft = false;
      const output = createGenerationStream({
        n: request.n,
        signal,
        onCancelChoice: () => {},
        onLeave: () => (hasLeft = true),
        unread: { afterMs: 1_000, onChange: () => {} },
      });
      void (async () => {
        asked.push(request.requestId);
        running += request.n;
        if (request.adapter) loaded.set(request.adapter.id, request.adapter.directory);
        for await (const events of count(request, () => hasLeft)) output.push(events);
        running -= request.n;
      })();
      return output.stream;
    },
    async prepare(constraint) {
      if (constraint.source === 'wrong') throw new AppError('invalid_constraint', 'The constraint is wrong.');
    },
    async loadAdapter({ id, directory }: AdapterRef) {
      loaded.set(id, directory);
    },
    async unloadAdapter(id) {
      loaded.delete(id);
    },
    status: () => ({ ready: true, running, waiting: 0, adapters: [...loaded.keys()], restarts: 0, lastFailure: null }),
    close: async () => {},
  };
}
