// A chat request as the service receives it: every field of the wire, typed, with ranges already checked. Null: the model's default.
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import type { Constraint } from '#domain/constraint';

export interface ToolChoice {
  /** `named`: the client chose one tool, so the call is not the model's own choice. */
  readonly mode: 'none' | 'auto' | 'required' | 'named';
  /** Names of the tools that may be called. Null: all of them. */
  readonly callable: readonly string[] | null;
}

/** Fields that all sampling requests share, whatever their prompt. */
export interface GenerationOptions {
  /** Null: the server's default. */
  readonly model: string | null;
  readonly sampling: SamplingOptions;
  readonly output: OutputOptions;
  readonly n: number;
  /** Null: ordinary sampling. */
  readonly beamSearch: { readonly lengthPenalty: number } | null;
  readonly constraint: RequestedConstraint | null;
  /** Smaller numbers go first. */
  readonly priority: number;
  /** Prefixes are shared only between requests with the same salt. */
  readonly cacheSalt: string | null;
}

export interface ChatRequest extends GenerationOptions {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[] | null;
  readonly toolChoice: ToolChoice;
  readonly parallelToolCalls: boolean;
  readonly prompt: PromptOptions;
}

/** The part of a chat request that determines its prompt. */
export type Conversation = Pick<ChatRequest, 'model' | 'messages' | 'tools' | 'prompt'>;

export interface RequestedConstraint {
  readonly constraint: Constraint;
  /** The client's name for the field. */
  readonly param: string;
}

export interface PromptOptions {
  /** For error messages: the client's name for the field. */
  readonly name: 'messages' | 'input';
  /** Null: true, unless the final message is continued. */
  readonly addGenerationPrompt: boolean | null;
  readonly continueFinalMessage: boolean;
  /** System messages within the conversation join the first if the template takes no others. */
  readonly mergesSystem?: boolean;
  readonly addSpecialTokens: boolean;
  /** Keep this many tokens; −1: as many as the context holds. */
  readonly truncatePromptTokens: number | bigint | null;
  /** Which end is cut off: `left` keeps the end of the prompt, where the question is. */
  readonly truncationSide: 'left' | 'right';
  /** Replaces the model's template. */
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
  /** For error messages: the client's name for the field. */
  readonly maxTokensField: string;
  /** A limit larger than the remaining context is allowed: the answer ends at whichever comes first. */
  readonly cutToContext: boolean;
  readonly minTokens: number;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly ignoreEos: boolean;
  /** Null: only the limit of the whole answer. */
  readonly thinkingTokens: number | null;
  /** For error messages: the client's name for the field. */
  readonly thinkingTokensField: string;
}

export interface OutputOptions {
  /** Null: on for trainable models, because training needs them. */
  readonly logprobs: boolean | null;
  readonly topLogprobs: number;
  /** For error messages: the client's name for the field. */
  readonly topLogprobsField: string;
  /** Listed instead of the best alternatives. */
  readonly logprobTokenIds: readonly number[] | null;
  readonly promptLogprobs: number | null;
  readonly echo: boolean;
  readonly includeStop: boolean;
  readonly skipSpecialTokens: boolean;
  readonly includeReasoning: boolean;
}

/** A request that starts from texts or token ids instead of a conversation. */
export interface CompletionRequest extends GenerationOptions {
  /** One answer for each. */
  readonly prompts: readonly (string | readonly number[])[];
  /** For error messages: the client's name for the field. */
  readonly promptName: 'prompt' | 'token_ids';
  /** Null: thinking is not told apart from the answer. `hasEnded`: before the first token; null: as the end of the prompt says. */
  readonly thinking: { readonly hasEnded: boolean | null } | null;
  readonly addSpecialTokens: boolean;
  readonly truncation: Pick<PromptOptions, 'truncatePromptTokens' | 'truncationSide'>;
  /** Only the prompt is asked about: the token that an engine samples anyway reaches nobody, and is not the model's answer. */
  readonly promptOnly: boolean;
  /** Number of choices to sample; the best `n` of them are returned. */
  readonly bestOf: number;
}
