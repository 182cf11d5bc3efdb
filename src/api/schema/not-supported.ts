// Fields of a chat request that this server knows and cannot honour yet. Sent with a value that changes nothing they are
// accepted, so that clients which send every key work; any other value is refused: silence would be a wrong answer.
import { valueError, type ValidationItem } from './validation.ts';

type HasNoEffect = (value: unknown) => boolean;

const is =
  (...values: readonly unknown[]): HasNoEffect =>
  (value) =>
    values.includes(value);
const isNull = is(null);
const isEmpty: HasNoEffect = (value) =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);
const isEmptyList: HasNoEffect = (value) => Array.isArray(value) && value.length === 0;
const always: HasNoEffect = () => true;

/** Name → does this value leave the answer as it would be without the field? Null counts only where it is allowed. */
const FIELDS: Readonly<Record<string, HasNoEffect>> = {
  frequency_penalty: is(0, null),
  presence_penalty: is(0, null),
  repetition_penalty: is(1, null),
  min_p: is(0, null),
  logit_bias: isEmpty,
  allowed_token_ids: isNull,
  bad_words: isEmptyList,
  min_tokens: is(0),
  stop_token_ids: isEmpty,
  include_stop_str_in_output: is(false),
  ignore_eos: is(false),
  skip_special_tokens: is(true),
  spaces_between_special_tokens: (value) => typeof value === 'boolean', // matters only when special tokens are kept
  use_beam_search: is(false),
  length_penalty: (value) => typeof value === 'number', // beam search only
  logits_processors: isEmpty,
  prompt_logprobs: isNull,
  echo: is(false),
  truncate_prompt_tokens: isNull,
  add_generation_prompt: is(true),
  continue_final_message: is(false),
  add_special_tokens: is(false),
  documents: isEmpty,
  chat_template: isNull,
  chat_template_kwargs: isEmpty,
  reasoning_effort: isNull,
  include_reasoning: is(true),
  mm_processor_kwargs: isEmpty,
  response_format: (value) => value === null || (value as { type?: unknown }).type === 'text',
  structured_outputs: isNull,
  tool_choice: is('none', null),
  parallel_tool_calls: always, // without a tool parser there are no calls to run in parallel
  priority: is(0),
  cache_salt: isNull,
  kv_transfer_params: isNull,
  vendor_xargs: isEmpty,
  vllm_xargs: isEmpty,
};

export const NOT_SUPPORTED_FIELDS: readonly string[] = Object.keys(FIELDS);

export function refuseNotSupported(body: Readonly<Record<string, unknown>>): ValidationItem[] {
  return NOT_SUPPORTED_FIELDS.filter((name) => body[name] !== undefined && !FIELDS[name]!(body[name])).map((name) =>
    valueError(
      ['body', name],
      `${name} with this value is not supported yet by this server. Leave it out.`,
      body[name],
    ),
  );
}
