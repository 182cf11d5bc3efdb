// One prompt and its growing completion inside the engine: a choice of a request. Holds state; decides nothing.
import { createRandom, type Random } from '#base/random';
import type { GenerateRequest } from '../../inference-engine.ts';
import type { GenerationSource } from './generation-stream.ts';
import type { CacheSlot } from './kv-cache.ts';
import type { Schedulable } from './scheduler.ts';

/** A request whose sequences are in the engine. */
export interface LiveRequest {
  /** In order of arrival. */
  readonly number: number;
  readonly request: GenerateRequest;
  readonly output: GenerationSource;
  /** One per choice. */
  readonly sequences: Sequence[];
  /** Sequences in the engine that have not ended. */
  openSequences: number;
}

export interface Sequence extends Schedulable {
  readonly live: LiveRequest;
  readonly choiceIndex: number;
  /** Prompt and completion. */
  readonly tokens: number[];
  computedTokenCount: number;
  slot: CacheSlot | null;
  /** Nobody reads it any more: it leaves between two steps. */
  cancelled: boolean;
  /** Survives preemption, so that the completion goes on as it would have. */
  readonly random: Random;
}

export function createSequence(live: LiveRequest, choiceIndex: number, seed: number): Sequence {
  const tokens = [...live.request.promptTokens];
  return {
    live,
    choiceIndex,
    tokens,
    promptTokenCount: tokens.length,
    get tokenCount() {
      return tokens.length;
    },
    computedTokenCount: 0,
    slot: null,
    cancelled: false,
    random: createRandom(seed + choiceIndex),
  };
}
