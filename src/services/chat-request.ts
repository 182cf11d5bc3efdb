// A chat request as the service takes it: every field of the wire, typed, with ranges checked at the edge. Null: the
// model's default.
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import type { Constraint } from '#domain/constraint';

export type ToolChoice = 'none' | 'auto' | 'required' | { readonly name: string };

export interface ChatRequest {
  /** Null: the server's default. */
  readonly model: string | null;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[] | null;
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  readonly prompt: PromptOptions;
  readonly sampling: SamplingOptions;
  readonly output: OutputOptions;
  readonly n: number;
  /** Null: sampling as usual. */
  readonly beamSearch: { readonly lengthPenalty: number } | null;
  readonly constraint: RequestedConstraint | null;
  /** Smaller ones first. */
  readonly priority: number;
  /** Computed prompts are shared between requests of equal salt only. */
  readonly cacheSalt: string | null;
}

export interface RequestedConstraint {
  readonly constraint: Constraint;
  /** What the client called it. */
  readonly param: string;
}

export interface PromptOptions {
  /** Null: unless the final message is continued. */
  readonly addGenerationPrompt: boolean | null;
  readonly continueFinalMessage: boolean;
  readonly addSpecialTokens: boolean;
  /** Keep the last tokens; −1: as many as the context holds. */
  readonly truncatePromptTokens: number | null;
  /** Instead of the model's. */
  readonly chatTemplate: string | null;
  readonly chatTemplateKwargs: Readonly<Record<string, unknown>>;
  readonly documents: readonly Readonly<Record<string, string>>[] | null;
  readonly reasoningEffort: string | null;
}

export interface SamplingOptions {
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly minP: number | null;
  readonly repetitionPenalty: number | null;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  readonly logitBias: readonly (readonly [tokenId: number, bias: number])[];
  readonly allowedTokenIds: readonly number[] | null;
  readonly badWords: readonly string[];
  readonly seed: number | null;
  readonly maxTokens: number | null;
  /** For error messages: what the client called it. */
  readonly maxTokensField: string;
  readonly minTokens: number;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly ignoreEos: boolean;
}

export interface OutputOptions {
  /** Null: on for trainable models, whose rollouts need them. */
  readonly logprobs: boolean | null;
  readonly topLogprobs: number;
  readonly promptLogprobs: number | null;
  readonly echo: boolean;
  readonly includeStop: boolean;
  readonly skipSpecialTokens: boolean;
  readonly includeReasoning: boolean;
}
