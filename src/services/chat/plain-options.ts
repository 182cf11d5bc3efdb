// Defaults of a sampling request: the model's own settings, and an answer that is plain text. For request formats that have only some of
// chat's fields.
import type { OutputOptions, PromptOptions, SamplingOptions } from './chat-request.ts';

export const PLAIN_PROMPT: PromptOptions = {
  name: 'messages',
  addGenerationPrompt: null,
  continueFinalMessage: false,
  addSpecialTokens: false,
  truncatePromptTokens: null,
  truncationSide: 'left',
  chatTemplate: null,
  chatTemplateKwargs: {},
  documents: null,
  reasoningEffort: null,
};

export const PLAIN_SAMPLING_OPTIONS: SamplingOptions = {
  temperature: null,
  topP: null,
  topK: null,
  minP: null,
  repetitionPenalty: null,
  frequencyPenalty: 0,
  presencePenalty: 0,
  logitBias: [],
  allowedTokenIds: null,
  badWords: [],
  seed: null,
  maxTokens: null,
  maxTokensField: 'max_tokens',
  cutToContext: false,
  minTokens: 0,
  stop: [],
  stopTokenIds: [],
  ignoreEos: false,
  thinkingTokens: null,
  thinkingTokensField: 'thinking_token_budget',
};

export const PLAIN_OUTPUT: OutputOptions = {
  logprobs: false,
  topLogprobs: 0,
  topLogprobsField: 'top_logprobs',
  logprobTokenIds: null,
  promptLogprobs: null,
  echo: false,
  includeStop: false,
  skipSpecialTokens: true,
  includeReasoning: true,
};
