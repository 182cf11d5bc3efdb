// A chat request as it comes over the wire → ChatRequest (services/chat-request.ts) and ChatFormat, which says how the answer
// is written. Rules across fields come first and hide type errors, as in vLLM; then every wrong field is reported at once.
import { z } from 'zod';
import type { ChatRequest, ToolChoice } from '#services/chat-request';
import { isObject, refuseForbiddenCombinations } from './chat-rules.ts';
import { boolean, integer, number, union } from './lax.ts';
import { message, tool } from './message.ts';
import { seed } from './seed.ts';
import { constraintOf, formatConstraint, responseFormat, structuredOutputs } from './structured-output.ts';
import { parse, refuse, type Complaint } from './validation.ts';

export interface ChatFormat {
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
  /** `token` in logprobs is `token_id:N`. Null: the model decides. */
  readonly tokensAsTokenIds: boolean | null;
  readonly returnTokenIds: boolean;
  readonly requestId: string | null;
}

const MAX_CHOICES = 128; // as OpenAI; each is a sequence in the engine
const MAX_STOPS = 64; // every token is matched against each
const MAX_BAD_WORDS = 128; // as vLLM; each is looked for at every token
const MAX_TOKEN_LIST = 200_000; // more than any vocabulary
const MAX_DOCUMENTS = 1024;

const tokenIds = () => z.array(integer({ ge: 0 })).max(MAX_TOKEN_LIST);
const describe = (description: string) => ({ description });

export const chatRequestSchema = z.looseObject({
  model: z.string().nullish().meta(describe('A base model, entity/project/name[@step], or wandb-artifact:///entity/project/name[:stepN]. Default: the first base model.')),
  messages: z.array(message).min(1).meta(describe('The conversation so far.')),

  // Sampling
  n: integer({ ge: 1, le: MAX_CHOICES }).nullish().meta(describe('Choices. The prompt is computed once for all. Default: 1.')),
  temperature: number({ ge: 0 }).nullish().meta(describe('0 is greedy. Default: generation_config.json of the model, else 1.')),
  top_p: number({ gt: 0, le: 1 }).nullish().meta(describe('Keep the likeliest tokens that together have this probability. Default: the model\'s, else 1.')),
  top_k: integer({ ge: -1 }).nullish().meta(describe('Keep this many of the likeliest tokens. 0 and -1: off. Default: the model\'s, else off.')),
  min_p: number({ ge: 0, le: 1 }).nullish().meta(describe('Keep tokens at least this fraction as likely as the likeliest. Default: the model\'s, else 0.')),
  frequency_penalty: number({ ge: -2, le: 2 }).nullish().meta(describe('Taken off a token\'s logit for each time it is in the answer.')),
  presence_penalty: number({ ge: -2, le: 2 }).nullish().meta(describe('Taken off a token\'s logit if it is in the answer.')),
  repetition_penalty: number({ gt: 0 }).nullish().meta(describe('Logits of tokens in prompt or answer are divided by it (negative ones multiplied). Default: the model\'s, else 1.')),
  logit_bias: z.record(z.string(), number()).nullish().meta(describe('Token id → number added to its logit, clamped to -100…100.')),
  allowed_token_ids: tokenIds().min(1).nullish().meta(describe('No other token can come, not even the end.')),
  bad_words: z.array(z.string().min(1)).max(MAX_BAD_WORDS).optional().meta(describe('Words that cannot come, with or without a space before them.')),
  seed,
  use_beam_search: boolean().optional().meta(describe('n beams instead of n samples; temperature, penalties and stops do not apply.')),
  length_penalty: number().optional().meta(describe('Beam search: beams are ranked by log-probability / length ^ this. Default: 1.')),
  logits_processors: z.array(union({ str: z.string(), LogitsProcessorConstructor: z.strictObject({ qualname: z.string(), args: z.array(z.unknown()).nullish(), kwargs: z.looseObject({}).nullish() }) })).nullish().meta(describe('None are registered here: anything but an empty list is refused.')),

  // Length and stopping
  max_tokens: integer({ ge: 1 }).nullish().meta(describe('Most tokens of an answer. Default: what fits in the context.')),
  max_completion_tokens: integer({ ge: 0 }).nullish().meta(describe('Wins over max_tokens; 0 counts as unset.')),
  min_tokens: integer({ ge: 0 }).optional().meta(describe('Until there are this many, nothing ends the answer.')),
  stop: union({ str: z.string().min(1), 'list[str]': z.array(z.string().min(1)).max(MAX_STOPS) }).nullish().meta(describe('Text that ends the answer and is cut from it.')),
  stop_token_ids: tokenIds().nullish().meta(describe('Tokens that end the answer.')),
  include_stop_str_in_output: boolean().optional().meta(describe('Keep the stop text, or the text of the stop token.')),
  ignore_eos: boolean().optional().meta(describe('The model\'s own end does not end the answer.')),

  // What the answer shows
  logprobs: boolean().nullish().meta(describe('Default: false on base models, true on trainable models (rollouts need them).')),
  top_logprobs: integer({ ge: -1 }).nullish().meta(describe('Alternatives per token, at most the server\'s limit (20); -1: the vocabulary. null turns logprobs off.')),
  prompt_logprobs: integer({ ge: -1 }).nullish().meta(describe('Log-probabilities of the prompt\'s tokens, with this many alternatives.')),
  return_tokens_as_token_ids: boolean().nullish().meta(describe('Write tokens in logprobs as `token_id:N`. Default: true on trainable models.')),
  return_token_ids: boolean().nullish().meta(describe('Add prompt_token_ids and token_ids.')),
  echo: boolean().optional().meta(describe('Begin the answer with the last message.')),
  skip_special_tokens: boolean().optional().meta(describe('Leave special tokens out of the text. Default: true.')),
  spaces_between_special_tokens: boolean().optional().meta(describe('No effect: tokens are joined as they are, byte by byte.')),
  include_reasoning: boolean().optional().meta(describe('false: the thinking is generated and counted, but not returned.')),
  stream: boolean().nullish().meta(describe('Server-sent events.')),
  stream_options: z.looseObject({
    include_usage: boolean().nullish().meta(describe('A last chunk with usage. Default, once stream_options is there: true.')),
    continuous_usage_stats: boolean().nullish().meta(describe('Usage so far in every chunk.')),
  }).nullish().meta(describe('Only with stream.')),

  // Prompt
  add_generation_prompt: boolean().optional().meta(describe('End the prompt with the beginning of an assistant turn. Default: true, unless the final message is continued.')),
  continue_final_message: boolean().optional().meta(describe('The model goes on with the last message.')),
  add_special_tokens: boolean().optional().meta(describe('What the tokenizer puts around texts (BOS) on top of the template.')),
  truncate_prompt_tokens: integer({ ge: -1 }).nullish().meta(describe('Keep only the last tokens of the prompt; -1: as many as the context holds.')),
  documents: z.array(z.record(z.string(), z.string())).max(MAX_DOCUMENTS).nullish().meta(describe('For templates with retrieval: the variable `documents`.')),
  chat_template: z.string().nullish().meta(describe('A Jinja template instead of the model\'s. Refused unless the operator trusts such templates.')),
  chat_template_kwargs: z.looseObject({}).nullish().meta(describe('Variables of the chat template, such as enable_thinking.')),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish().meta(describe('For templates that read it; none turns thinking off.')),
  mm_processor_kwargs: z.looseObject({}).nullish().meta(describe('For images and sound, which text models do not read: refused unless empty.')),

  // Form of the answer
  response_format: responseFormat.nullish().meta(describe('JSON, or JSON of a schema. Always kept to.')),
  structured_outputs: structuredOutputs.nullish().meta(describe('One constraint on the text: json, regex, choice, grammar, json_object or structural_tag.')),
  tools: z.array(tool).nullish().meta(describe('Functions that the model may call.')),
  tool_choice: union({
    str: z.enum(['none', 'auto', 'required']),
    ToolChoiceNamed: z.looseObject({ type: z.literal('function').default('function'), function: z.looseObject({ name: z.string() }) }),
  }).nullish().meta(describe('Default: auto with tools, none without.')),
  parallel_tool_calls: boolean().nullish().meta(describe('false: the first call only. Default: true.')),

  // Serving
  priority: integer().optional().meta(describe('Smaller ones first. Needs the priority scheduling policy unless 0.')),
  request_id: z.string().min(1).max(128).optional().meta(describe('Becomes the id of the answer, unless an x-request-id header came.')),
  cache_salt: z.string().nullish().meta(describe('Computed prompts are shared between requests of equal salt only.')),
  user: z.string().nullish().meta(describe('No effect.')),
  kv_transfer_params: z.looseObject({}).nullish().meta(describe('For disaggregated serving, which this engine does not do: refused.')),
  vendor_xargs: xargs().meta(describe('For extensions; unknown names have no effect.')),
  vllm_xargs: xargs().meta(describe('Alias of vendor_xargs.')),
}); // prettier-ignore

function xargs() {
  const scalar = union({ str: z.string(), float: number() });
  return z.record(z.string(), union({ str: z.string(), float: number(), list: z.array(scalar) })).nullish();
}

type Wire = z.output<typeof chatRequestSchema>;

export function parseChatRequest(body: unknown): { request: ChatRequest; format: ChatFormat } {
  if (isObject(body)) refuseForbiddenCombinations(body);
  const wire = parse(chatRequestSchema, body, 'body');
  const includeUsage = wire.stream_options ? (wire.stream_options.include_usage ?? true) : false;
  return {
    request: toRequest(wire),
    format: {
      stream: wire.stream ?? false,
      includeUsage,
      continuousUsage: includeUsage && (wire.stream_options?.continuous_usage_stats ?? false),
      tokensAsTokenIds: wire.return_tokens_as_token_ids ?? null,
      returnTokenIds: wire.return_token_ids ?? false,
      requestId: wire.request_id ?? null,
    },
  };
}

function toRequest(wire: Wire): ChatRequest {
  refuseWhatIsNotHere(wire);
  const tools = wire.tools && wire.tools.length > 0 ? wire.tools : null;
  const stops = wire.stop ?? [];
  const topLogprobs = wire.top_logprobs ?? 0;
  return {
    model: wire.model || null,
    messages: wire.messages,
    tools,
    toolChoice: toolChoice(wire.tool_choice, tools !== null),
    parallelToolCalls: wire.parallel_tool_calls ?? true,
    prompt: {
      addGenerationPrompt: wire.add_generation_prompt ?? null,
      continueFinalMessage: wire.continue_final_message ?? false,
      addSpecialTokens: wire.add_special_tokens ?? false,
      truncatePromptTokens: wire.truncate_prompt_tokens ?? null,
      chatTemplate: wire.chat_template ?? null,
      chatTemplateKwargs: wire.chat_template_kwargs ?? {},
      documents: wire.documents ?? null,
      reasoningEffort: wire.reasoning_effort ?? null,
    },
    sampling: {
      temperature: wire.temperature ?? null,
      topP: wire.top_p ?? null,
      topK: wire.top_k ?? null,
      minP: wire.min_p ?? null,
      repetitionPenalty: wire.repetition_penalty ?? null,
      frequencyPenalty: wire.frequency_penalty ?? 0,
      presencePenalty: wire.presence_penalty ?? 0,
      logitBias: logitBias(wire.logit_bias ?? {}),
      allowedTokenIds: wire.allowed_token_ids ?? null,
      badWords: wire.bad_words ?? [],
      seed: wire.seed ?? null,
      maxTokens: wire.max_completion_tokens || (wire.max_tokens ?? null),
      maxTokensField: wire.max_completion_tokens ? 'max_completion_tokens' : 'max_tokens',
      minTokens: wire.min_tokens ?? 0,
      stop: typeof stops === 'string' ? [stops] : stops,
      stopTokenIds: wire.stop_token_ids ?? [],
      ignoreEos: wire.ignore_eos ?? false,
    },
    output: {
      // An explicit null for top_logprobs turns logprobs off, as in vLLM.
      logprobs: wire.logprobs === true && wire.top_logprobs === null ? false : (wire.logprobs ?? null),
      topLogprobs,
      promptLogprobs: wire.prompt_logprobs ?? (wire.echo === true && wire.stream !== true ? topLogprobs : null),
      echo: wire.echo ?? false,
      includeStop: wire.include_stop_str_in_output ?? false,
      skipSpecialTokens: wire.skip_special_tokens ?? true,
      includeReasoning: wire.include_reasoning ?? true,
    },
    n: wire.n ?? 1,
    beamSearch: wire.use_beam_search ? { lengthPenalty: wire.length_penalty ?? 1 } : null,
    constraint: requestedConstraint(wire),
    priority: wire.priority ?? 0,
    cacheSalt: wire.cache_salt ?? null,
  };
}

function toolChoice(choice: Wire['tool_choice'], hasTools: boolean): ToolChoice {
  if (choice === undefined || choice === null) return hasTools ? 'auto' : 'none';
  return typeof choice === 'string' ? choice : { name: choice.function.name };
}

const BIAS_MAX = 100; // as OpenAI and vLLM

function logitBias(biases: Readonly<Record<string, number>>): [number, number][] {
  return Object.entries(biases).map(([key, bias]) => {
    if (!/^\s*\d{1,9}\s*$/.test(key)) {
      const complaint: Complaint = { type: 'int_parsing', msg: 'Input should be a valid integer, unable to parse string as an integer' };
      refuse(['body', 'logit_bias', key], complaint.msg, key);
    }
    return [Number(key), Math.max(-BIAS_MAX, Math.min(BIAS_MAX, bias))];
  });
} // prettier-ignore

function requestedConstraint({
  structured_outputs: outputs,
  response_format: format,
}: Wire): ChatRequest['constraint'] {
  const formatted = format ? formatConstraint(format) : null;
  if (outputs && formatted)
    refuse(['body', 'response_format'], 'structured_outputs and response_format both constrain the answer. Send one of them.', format); // prettier-ignore
  if (outputs) return { constraint: constraintOf(outputs), param: 'structured_outputs' };
  return formatted && { constraint: formatted, param: 'response_format' };
}

/** Fields of other engines. With an empty value they are accepted, so that clients which send every key work. */
function refuseWhatIsNotHere(wire: Wire): void {
  const isSet = (value: unknown) => value !== undefined && value !== null && Object.keys(value).length > 0;
  if (isSet(wire.logits_processors))
    refuse(['body', 'logits_processors'], 'This server has no registered logits processors. Leave the field out.', wire.logits_processors); // prettier-ignore
  if (isSet(wire.mm_processor_kwargs))
    refuse(['body', 'mm_processor_kwargs'], 'Text models have no image or audio processor. Leave the field out.', wire.mm_processor_kwargs); // prettier-ignore
  if (wire.kv_transfer_params)
    refuse(['body', 'kv_transfer_params'], 'This engine computes and keeps its cache in one place: there is nothing to transfer. Leave the field out.', wire.kv_transfer_params); // prettier-ignore
}
