// A chat request as the service takes it: every field of the wire, typed, with ranges checked at the edge. Null: the
// model's default.
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import type { Constraint } from '#domain/constraint';

export interface ToolChoice {
  /** `named`: one tool that the client chose, so that the call is no choice of the model's. */
  readonly mode: 'none' | 'auto' | 'required' | 'named';
  /** Names of the tools that may be called. Null: all of them. */
  readonly callable: readonly string[] | null;
}

/** What requests for tokens have in common, whatever their prompt. */
export interface GenerationOptions {
  /** Null: the server's default. */
  readonly model: string | null;
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

export interface ChatRequest extends GenerationOptions {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[] | null;
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  readonly prompt: PromptOptions;
}

/** What of a chat request becomes its prompt. */
export type Conversation = Pick<ChatRequest, 'model' | 'messages' | 'tools' | 'prompt'>;

export interface RequestedConstraint {
  readonly constraint: Constraint;
  /** What the client called it. */
  readonly param: string;
}

export interface PromptOptions {
  /** For error messages: what the client called it. */
  readonly name: 'messages' | 'input';
  /** Null: unless the final message is continued. */
  readonly addGenerationPrompt: boolean | null;
  readonly continueFinalMessage: boolean;
  readonly addSpecialTokens: boolean;
  /** Keep this many tokens; −1: as many as the context holds. */
  readonly truncatePromptTokens: number | null;
  /** What is cut off: `left`, so that the end stays, where the question is. */
  readonly truncationSide: 'left' | 'right';
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
  /** A limit over what the context leaves is no mistake: the answer ends at whichever comes first. */
  readonly cutToContext: boolean;
  readonly minTokens: number;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly ignoreEos: boolean;
  /** Null: no limit but the answer's. */
  readonly thinkingTokens: number | null;
}

export interface OutputOptions {
  /** Null: on for trainable models, whose rollouts need them. */
  readonly logprobs: boolean | null;
  readonly topLogprobs: number;
  /** For error messages: what the client called it. */
  readonly topLogprobsField: string;
  /** Listed instead of the best alternatives. */
  readonly logprobTokenIds: readonly number[] | null;
  readonly promptLogprobs: number | null;
  readonly echo: boolean;
  readonly includeStop: boolean;
  readonly skipSpecialTokens: boolean;
  readonly includeReasoning: boolean;
}

/** A request that begins with texts, or with token ids, instead of a conversation. */
export interface CompletionRequest extends GenerationOptions {
  /** One answer each. */
  readonly prompts: readonly (string | readonly number[])[];
  readonly addSpecialTokens: boolean;
  readonly truncation: Pick<PromptOptions, 'truncatePromptTokens' | 'truncationSide'>;
  /** Choices that are sampled; the best `n` of them are the answer. */
  readonly bestOf: number;
}
