// One prompt and its growing completion inside the engine: a choice of a request. Holds state; decides nothing.
import { createRandom, type Random } from '#base/random';
import type { AppError } from '#domain/errors';
import type { GenerateRequest, RankedLogprob } from '../../inference-engine.ts';
import type { GenerationSource } from '../../generation-stream.ts';
import type { CacheSlot } from './kv-cache.ts';
import { createLogitsProcessors, type LogitsProcessor } from './logits-processors.ts';
import type { Logits } from './logits.ts';
import type { PromptChunk } from './prompt-chunks.ts';
import type { Rank } from '../../rank.ts';
import type { RequestScope } from './request-scope.ts';
import type { Schedulable } from './queues.ts';

/** A request whose sequences are in the engine. */
export interface LiveRequest {
  readonly rank: Rank;
  readonly request: GenerateRequest;
  readonly chunks: readonly PromptChunk[];
  readonly output: GenerationSource;
  /** One per choice. */
  readonly sequences: Sequence[];
  /** Sequences in the engine that have not ended. */
  openSequences: number;
  /** Its reader has not read for a long time. */
  unread: boolean;
  /** A choice could not continue; reported when the others have ended. */
  deadEnd: AppError | null;
  /** Null until it is admitted. */
  scope: RequestScope | null;
  /** Null once it was sent with the first event. */
  prompt: PromptProgress | null;
}

/** What is reported about the prompt, collected while it is computed. */
export interface PromptProgress {
  cachedTokenCount: number;
  /** Null: not requested. */
  readonly logprobs: (readonly RankedLogprob[] | null)[] | null;
  lastHidden?: readonly number[];
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
  /** These survive preemption, so that the completion continues unchanged. */
  readonly random: Random;
  readonly processors: readonly LogitsProcessor[];
  /** Whether the request's constraint applies to the next token. */
  constrained: boolean;
  /** The logits of its next token, while it waits for its constraint's mask and other sequences continue. */
  parked: Logits | null;
}

export function createSequence(live: LiveRequest, choiceIndex: number, seed: number): Sequence {
  const tokens = [...live.request.promptTokens];
  return {
    live,
    rank: live.rank,
    choiceIndex,
    tokens,
    promptTokenCount: tokens.length,
    get tokenCount() {
      return tokens.length;
    },
    get unread() {
      return live.unread;
    },
    computedTokenCount: 0,
    slot: null,
    cancelled: false,
    random: createRandom(seed + choiceIndex),
    processors: createLogitsProcessors(live.request.sampling),
    constrained: live.request.constraint?.afterTokenId === null,
    parked: null,
  };
}
