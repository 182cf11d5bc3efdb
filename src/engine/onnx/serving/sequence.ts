// One prompt and its growing completion inside the engine: a choice of a request. Holds state; decides nothing.
import { createRandom, type Random } from '#base/random';
import type { GenerateRequest, RankedLogprob } from '../../inference-engine.ts';
import type { GenerationSource } from './generation-stream.ts';
import type { CacheSlot } from './kv-cache.ts';
import type { GrammarMatcher } from './grammar/grammars.ts';
import { createLogitsProcessors, type LogitsProcessor } from './logits-processors.ts';
import type { PromptChunk } from './prompt-chunks.ts';
import type { Rank } from './rank.ts';
import type { Schedulable } from './scheduler.ts';

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
  /** Null once it went out with the first event. */
  prompt: PromptProgress | null;
}

/** What there is to say about the prompt, while it is being computed. */
export interface PromptProgress {
  cachedTokenCount: number;
  /** Null: not asked for. */
  readonly logprobs: (readonly RankedLogprob[] | null)[] | null;
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
  /** These survive preemption, so that the completion goes on as it would have. */
  readonly random: Random;
  readonly processors: readonly LogitsProcessor[];
  /** Null without a constraint. */
  matcher: GrammarMatcher | null;
  /** The constraint holds for the next token. */
  constrained: boolean;
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
    computedTokenCount: 0,
    slot: null,
    cancelled: false,
    random: createRandom(seed + choiceIndex),
    processors: createLogitsProcessors(live.request.sampling),
    matcher: null,
    constrained: false,
  };
}
