// How the next token is chosen. Ranges are checked at the edge (api/schema); engines trust them.

export interface SamplingParams {
  /** ≥ 0; below 1e-5 means greedy. */
  readonly temperature: number;
  /** (0, 1]; 1 is off. */
  readonly topP: number;
  /** ≥ 1; 0 is off. */
  readonly topK: number;
  /** [0, 1]: tokens less likely than this part of the best one's probability are out; 0 is off. */
  readonly minP: number;
  /** > 0; 1 is off. Tokens of prompt and completion: positive logits are divided, others multiplied (arXiv:1909.05858). */
  readonly repetitionPenalty: number;
  /** Taken off a token's logit for each time it is in the completion. */
  readonly frequencyPenalty: number;
  /** Taken off a token's logit if it is in the completion. */
  readonly presencePenalty: number;
  /** Added to the logits of these tokens. */
  readonly logitBias: readonly (readonly [tokenId: number, bias: number])[];
  /** No other token can come; null: all can. */
  readonly allowedTokenIds: readonly number[] | null;
  /** The last token of each sequence cannot come where the completion ends with those before it. */
  readonly badWords: readonly (readonly number[])[];
  /** Choice i of a request samples with seed + i. Null: drawn by the engine. */
  readonly seed: number | null;
  /** Hard limit on new tokens, ≥ 1. */
  readonly maxTokens: number;
  /** Until there are this many new tokens, none of `endTokenIds` can come. */
  readonly minTokens: number;
  /** Generation ends on any of these; the token is part of the result. */
  readonly stopTokenIds: readonly number[];
  /** What would end an answer: the stop tokens, and the model's own ends where they are ignored. */
  readonly endTokenIds: readonly number[];
  /** How many alternatives each TokenEvent lists, best first; 0 for none, −1 for the vocabulary. */
  readonly topLogprobs: number;
  /** Tokens that each TokenEvent lists behind its own, instead of the best ones. Null: the best ones. */
  readonly logprobTokenIds: readonly number[] | null;
  readonly thinkingBudget: ThinkingBudget | null;
  /** How many alternatives to each prompt token are listed, besides itself; −1 for the vocabulary, null for no list. */
  readonly promptLogprobs: number | null;
}

/** Thinking that has had so many tokens ends: nothing but its end can come. */
export interface ThinkingBudget {
  readonly tokens: number;
  /** What begins thinking, and the token that ends it. */
  readonly start: readonly number[];
  readonly end: number;
  /** The prompt leaves it open. */
  readonly isOpen: boolean;
}

/** Nothing but the model: every switch is off. */
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
