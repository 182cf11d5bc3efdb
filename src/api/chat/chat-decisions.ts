// Fields of chat, completions, embeddings and tokenization that OpenAI, vLLM and other servers know and that are not read here:
// refused where they would change the answer, otherwise accepted (field-decisions.ts).
import { isObject } from '#base/is-object';
import { forAll, harmless, isEmpty, isNothing, quiet, refused, type Decisions } from './field-decisions.ts';
import { misplacedAt } from './misplaced-fields.ts';

const instead = (example: string) => (field: string) =>
  refused(`This server has no field \`${field}\`. Send ${example} instead.`);

/** Constraints under the names of other servers. Without them the answer would be unconstrained. */
export const CONSTRAINTS: Decisions = {
  ...forAll(['json_schema'], instead('response_format: {"type": "json_schema", "json_schema": {"schema": …}}')),
  ...forAll(['grammar', 'ebnf', 'guided_grammar'], instead('structured_outputs: {"grammar": …}')),
  ...forAll(['regex', 'guided_regex'], instead('structured_outputs: {"regex": …}')),
  ...forAll(['guided_json'], instead('structured_outputs: {"json": …}')),
  ...forAll(['guided_choice'], instead('structured_outputs: {"choice": …}')),
};

/** vLLM's fields for other kinds of models, for its cluster, and for parts of its answer that this server does not have. */
export const OF_VLLM: Decisions = {
  mm_processor_kwargs: refused('Text models have no image or audio processor. Leave the field out.'),
  media_io_kwargs: refused('Models here read text only: there are no media to load. Leave the field out.'),
  mm_payload: refused('Models here read text only: there are no media to load. Leave the field out.'),
  return_mm_kwargs: refused('Models here read text only: there is no processed media to return. Leave the field out.'),
  kv_transfer_params: refused('KV caches are not transferred between servers here. Leave the field out.'),
  ec_transfer_params: refused('There is no encoder cache to transfer here. Leave the field out.'),
  watermarking: refused('Watermarking is not supported. Leave the field out.'),
  session_id: harmless('requests are not routed by session here.'),
};

export const OF_VLLM_SAMPLING: Decisions = {
  ...OF_VLLM,
  logits_processors: refused('This server has no registered logits processors. Leave the field out.'),
  prompt_embeds: refused('Prompt embeddings are not supported. Send prompt or messages instead.'),
  repetition_detection: refused('Repetition detection is not supported. Set max_tokens or frequency_penalty.'),
  return_prompt_text: refused('The text of the prompt is not returned. POST /tokenize and /detokenize give it.'),
  return_token_offsets: refused('Offsets of tokens are not returned. logprobs have the bytes of each token.'),
  routed_experts_prompt_start: refused('Experts are not recorded here. Leave the field out.', isNothing),
  stream_interval: harmless('every token is sent as soon as it is known.', isNothing),
};

const isTextOnly = (value: unknown): boolean =>
  isEmpty(value) || (Array.isArray(value) && value.every((modality) => modality === 'text'));

/** What the older way to offer functions means without functions. */
const callsNothing = (value: unknown): boolean => isEmpty(value) || value === 'none' || value === 'auto';

const isMedium = (value: unknown): boolean => isNothing(value) || value === 'medium';

/** Prewarming generates nothing, so an answer would be wrong. */
const prewarms = (value: unknown): boolean => isObject(value) && value['prewarm'] === true;

export const CACHED = 'prompts are always cached.';

/** OpenAI's fields that chat and Responses share. */
export const OF_OPENAI: Decisions = {
  moderation: refused('Moderation is not supported. Leave moderation out.'),
  prompt_cache_key: harmless(CACHED),
  prompt_cache_retention: harmless('prompts stay cached while there is space.'),
  prompt_cache_options: refused(
    'The prompt cache cannot be warmed without an answer. Leave prompt_cache_options out, or set max_tokens to 1.',
    (value) => !prewarms(value),
  ),
  safety_identifier: harmless('requests are accounted to the API key.'),
  service_tier: harmless(
    'there is only one tier.',
    (value) => isEmpty(value) || value === 'auto' || value === 'default',
  ),
};

export const VERBOSITY: Decisions = {
  verbosity: harmless(
    'the models here were not trained with it. Ask for a short or long answer in a message.',
    isMedium,
  ),
};

const isForModel = (callers: unknown): boolean =>
  isEmpty(callers) || (Array.isArray(callers) && callers.includes('direct'));

/** For tools that only programs of the model may call, which do not run here. */
export const CALLERS: Decisions = {
  allowed_callers: refused(
    'Tools are called by the model itself here. Leave allowed_callers out, or add "direct".',
    isForModel,
  ),
};

/** Of a message of chat. */
export const MESSAGE_DECISIONS: Decisions = {
  audio: refused('An earlier answer in audio is not kept here. Send its text as content.'),
};

/** Of a part of a message. */
export const PART_DECISIONS: Decisions = { prompt_cache_breakpoint: quiet(CACHED) };

export const STREAM_OPTIONS_DECISIONS: Decisions = { include_obfuscation: harmless('nothing is obfuscated.') };

export const CHAT_DECISIONS: Decisions = {
  ...misplacedAt('/v1/chat/completions'),
  ...CONSTRAINTS,
  ...OF_VLLM_SAMPLING,
  ...OF_OPENAI,
  functions: refused('functions is deprecated and not supported. Send the same functions as tools.'),
  function_call: refused('function_call is deprecated and not supported. Send tools and tool_choice.', callsNothing),
  modalities: refused('Models here write text only. Leave modalities out, or send ["text"].', isTextOnly),
  audio: refused('Models here write text only. Leave audio out.'),
  web_search_options: refused(
    'This server does not search the web. Offer a search of your own as a tool, or leave web_search_options out.',
    isNothing,
  ),
  prediction: harmless('it would only make the answer faster.'),
  metadata: harmless('chat completions are not stored.'),
  store: harmless('chat completions are not stored. POST /v1/responses stores its answers.'),
  ...VERBOSITY,
  ...forAll(['system', 'instructions'], () =>
    refused('A system prompt is a message with the role system. Send it as the first of messages.'),
  ),
  stop_sequences: refused('This endpoint has no field `stop_sequences`. Send stop instead.'),
  max_output_tokens: refused(
    'This endpoint has no field `max_output_tokens`. Send max_completion_tokens instead.',
    isNothing,
  ),
  reasoning: refused('This endpoint has no field `reasoning`. Send reasoning_effort instead.'),
  thinking: refused(
    'This endpoint has no field `thinking`. Send chat_template_kwargs: {"enable_thinking": …} instead.',
  ),
  text: refused('This endpoint has no field `text`. Send response_format instead.'),
  previous_response_id: refused('Only /v1/responses continues a stored conversation. Send all messages.'),
};

export const COMPLETION_DECISIONS: Decisions = {
  ...misplacedAt('/v1/completions'),
  ...CONSTRAINTS,
  ...OF_VLLM_SAMPLING,
  ...forAll(['messages', 'tools', 'tool_choice'], (field) =>
    refused(`Completions continue a text and have no \`${field}\`. POST to /v1/chat/completions instead.`),
  ),
};

/** A generation request of OpenAI's or Anthropic's newer formats takes vLLM's sampling fields, but not these of chat. */
export const CHAT_ONLY: Decisions = {
  ...CONSTRAINTS,
  ...OF_VLLM_SAMPLING,
  spaces_between_special_tokens: quiet('tokens are concatenated without spaces.'),
  ...forAll(
    [
      ...['use_beam_search', 'best_of', 'echo', 'documents', 'chat_template', 'prompt_logprobs', 'logprob_token_ids'],
      'return_weight_versions',
    ],
    (field) => refused(`\`${field}\` is a field of /v1/chat/completions or /v1/completions. Send the request there.`),
  ),
  n: refused(
    'This API gives one answer to a request. Send n requests, or use /v1/chat/completions.',
    (value) => isNothing(value) || value === 1,
  ),
  response_format: refused('`response_format` is a field of /v1/chat/completions. This API has a field of its own.'),
};

export const EMBEDDING_DECISIONS: Decisions = {
  ...OF_VLLM,
  embed_dtype: refused('Vectors are float32. Leave the field out.', (value) => isEmpty(value) || value === 'float32'),
  endianness: refused(
    'Vectors in base64 are little-endian. Leave endianness out.',
    (value) => isEmpty(value) || value === 'little' || value === 'native',
  ),
  use_activation: refused(
    'Vectors are always normalized. Leave use_activation out.',
    (value) => isNothing(value) || value === true,
  ),
  padding: harmless('inputs are computed without padding.'),
  messages: refused('Conversations have no embedding here. Send input.'),
};
