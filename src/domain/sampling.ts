// How the next token is chosen. Ranges are checked at the edge (api/schema); engines trust them.

export interface SamplingParams {
  /** ≥ 0; below 1e-5 means greedy. */
  temperature: number;
  /** (0, 1]; 1 is off. */
  topP: number;
  /** ≥ 1; 0 is off. */
  topK: number;
  /** Choice i of a request samples with seed + i. Null: drawn by the engine. */
  seed: number | null;
  /** Hard limit on new tokens, ≥ 1. */
  maxTokens: number;
  /** Generation ends on any of these; the token is part of the result. */
  stopTokenIds: readonly number[];
  /** How many alternatives each TokenEvent lists, best first; 0 for none. */
  topLogprobs: number;
}

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'cancelled';
