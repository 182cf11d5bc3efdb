// A sampler without a model that answers as the embedded one does: all its sequences get a token in each step, and a step takes
// `stepMs`. What it costs is what carrying its tokens costs.
import { setTimeout as delay } from 'node:timers/promises';
import { createGenerationStream, type GenerationSource } from '../../src/engine/generation-stream.ts';
import type { InferenceEngine } from '../../src/engine/inference-engine.ts';
import { COUNTING_VOCAB } from '../../test/support/workers/counting-engine.ts';

interface Running {
  readonly output: GenerationSource;
  readonly maxTokens: number;
  sampled: number;
}

export function createSteppingEngine(stepMs: number): InferenceEngine {
  const running = new Set<Running>();
  let isStepping = false;

  async function step(): Promise<void> {
    isStepping = true;
    while (running.size > 0) {
      await delay(stepMs);
      for (const sequence of running) {
        const isLast = ++sequence.sampled === sequence.maxTokens;
        const tokenId = sequence.sampled % COUNTING_VOCAB;
        const finishReason = isLast ? 'length' : null;
        sequence.output.push([{ choiceIndex: 0, tokenId, logprob: -Math.random(), topLogprobs: [], finishReason }]);
        if (isLast) running.delete(sequence);
      }
    }
    isStepping = false;
  }

  return {
    contextLength: 4_096,
    vocabSize: COUNTING_VOCAB,
    generate({ sampling: { maxTokens } }, signal) {
      const output = createGenerationStream({
        n: 1,
        signal,
        onCancelChoice: () => {},
        onLeave: () => running.delete(sequence),
        unread: { afterMs: 1_000, onChange: () => {} },
      });
      const sequence: Running = { output, maxTokens, sampled: 0 };
      running.add(sequence);
      if (!isStepping) void step();
      return output.stream;
    },
    prepare: async () => {},
    loadAdapter: async () => {},
    unloadAdapter: async () => {},
    status: () => ({ ready: true, running: running.size, waiting: 0, adapters: [], restarts: 0, lastFailure: null }),
    close: async () => {},
  };
}
