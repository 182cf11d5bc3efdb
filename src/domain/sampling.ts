// How the next token is chosen. Ranges are checked at the edge (api/chat); engines trust them.

export interface SamplingParams {
  /** ≥ 0; below 1e-5 means greedy. */
  readonly temperature: number;
  /** (0, 1]; 1 is off. */
  readonly topP: number;
  /** ≥ 1; 0 is off. */
  readonly topK: number;
  /** [0, 1]: excludes tokens whose probability is below this fraction of the most likely token's; 0 is off. */
  readonly minP: number;
  /** > 0; 1 is off. Applies to tokens of prompt and completion: positive logits are divided by it, negative ones multiplied (arXiv:1909.05858). */
  readonly repetitionPenalty: number;
  /** Subtracted from a token's logit once for each occurrence in the completion. */
  readonly frequencyPenalty: number;
  /** Subtracted from a token's logit if it occurs in the completion. */
  readonly presencePenalty: number;
  /** Added to the logits of the given tokens. */
  readonly logitBias: readonly (readonly [tokenId: number, bias: number])[];
  /** Only these tokens may be sampled; null: all. */
  readonly allowedTokenIds: readonly number[] | null;
  /** Token sequences that must not occur: the last token of each is excluded after the tokens before it. */
  readonly badWords: readonly (readonly number[])[];
  /** Choice i of a request samples with seed + i. Null: the engine draws a seed. */
  readonly seed: number | null;
  /** Hard limit on new tokens, ≥ 1. */
  readonly maxTokens: number;
  /** Until this many new tokens have been sampled, none of `endTokenIds` can be. */
  readonly minTokens: number;
  /** Generation ends after any of these tokens, which is part of the result. */
  readonly stopTokenIds: readonly number[];
  /** Tokens that `minTokens` holds back: the stop tokens, and the model's own end tokens even where the request ignores them. */
  readonly endTokenIds: readonly number[];
  /** Number of alternatives in each TokenEvent, best first; 0: none, −1: the whole vocabulary. */
  readonly topLogprobs: number;
  /** Tokens that each TokenEvent lists after the sampled one, instead of the best ones. Null: the best ones. */
  readonly logprobTokenIds: readonly number[] | null;
  readonly thinkingBudget: ThinkingBudget | null;
  /** Number of alternatives listed for each prompt token, besides itself; −1: the whole vocabulary, null: no list. */
  readonly promptLogprobs: number | null;
}

/** Maximum number of reasoning tokens; after that, only the token that ends reasoning can be sampled. */
export interface ThinkingBudget {
  readonly tokens: number;
  /** The tokens that start reasoning, and the token that ends it. */
  readonly start: readonly number[];
  readonly end: number;
  /** The prompt ends inside a reasoning block. */
  readonly isOpen: boolean;
}

/** The model's unmodified distribution: every option is off. */
export const PLAIN_SAMPLING: Omit<SamplingParams, 'maxTokens'> = {
  temperature: 1,
  topP: 1,
  topK: 0,
  minP: 0,
  repetitionPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  logitBias: [],
  allowedTokenIds: null,
  badWords: [],
  seed: null,
  minTokens: 0,
  stopTokenIds: [],
  endTokenIds: [],
  topLogprobs: 0,
  logprobTokenIds: null,
  thinkingBudget: null,
  promptLogprobs: null,
};

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'cancelled';
