// Fields that change an answer and that only some endpoints have. Sent to another one they are refused: a client that mixes up two APIs
// would get another answer than it asked for. What only adds to an answer (log-probabilities, token ids) or says how it is delivered is
// not among them: the answer's `warnings` name it.
import { forAll, isEmpty, refused, type Decisions } from './field-decisions.ts';

const CHAT = '/v1/chat/completions';
const COMPLETIONS = '/v1/completions';
const RESPONSES = '/v1/responses';
const MESSAGES = '/v1/messages';

const ENDPOINTS = new Map<string, readonly string[]>();
const has = (fields: readonly string[], ...endpoints: readonly string[]) =>
  fields.forEach((field) => ENDPOINTS.set(field, endpoints));

has(['reasoning_effort', 'continue_final_message', 'add_generation_prompt', 'documents', 'chat_template'], CHAT);
has(['functions', 'function_call', 'modalities', 'audio', 'web_search_options', 'max_completion_tokens'], CHAT);
has(['truncate_prompt_tokens', 'truncation_side', 'add_special_tokens'], CHAT, COMPLETIONS);
has(['chat_template_kwargs'], CHAT, RESPONSES, MESSAGES);
has(['parallel_tool_calls', 'moderation', 'prompt_cache_options'], CHAT, RESPONSES);
has(['suffix', 'best_of'], COMPLETIONS);
has(['prompt'], COMPLETIONS, RESPONSES);
has(['input', 'instructions', 'max_output_tokens', 'previous_response_id'], RESPONSES);
has(['conversation', 'reasoning', 'text', 'truncation', 'previous_input_messages'], RESPONSES);
has(['context_management'], RESPONSES, MESSAGES);
has(['system', 'stop_sequences', 'thinking', 'output_config', 'output_format'], MESSAGES);
has(['mcp_servers', 'container', 'compaction', 'thread', 'fallbacks'], MESSAGES);
has(['token_ids', 'sampling_params', 'reasoning_ended'], '/inference/v1/generate');

/** Values that ask for what happens anyway. */
const AS_ANYWAY: Readonly<Record<string, unknown>> = {
  add_generation_prompt: true,
  best_of: 1,
  function_call: 'none',
  parallel_tool_calls: true,
  truncation: 'disabled',
  truncation_side: 'left',
};

/** Decisions of one endpoint. Its own table may have better words for some of them. */
export const misplacedAt = (endpoint: string): Decisions =>
  forAll(
    [...ENDPOINTS.keys()].filter((field) => !ENDPOINTS.get(field)!.includes(endpoint)),
    (field) =>
      refused(
        `${endpoint} has no field \`${field}\`: it is one of ${ENDPOINTS.get(field)!.join(' and ')}. Leave it out.`,
        (value) => isEmpty(value) || (Object.hasOwn(AS_ANYWAY, field) && AS_ANYWAY[field] === value),
      ),
  );
