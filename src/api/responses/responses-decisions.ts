// Fields of OpenAI's Responses API, and of vLLM's, that are not read here: refused where they would change the answer, otherwise
// accepted (../chat/field-decisions.ts).
import { isObject } from '#base/is-object';
import { CACHED, CALLERS, CHAT_ONLY, OF_OPENAI, VERBOSITY } from '../chat/chat-decisions.ts';
import { harmless, isEmpty, isNothing, quiet, refused, type Decisions } from '../chat/field-decisions.ts';
import { misplacedAt } from '../chat/misplaced-fields.ts';

/** Conditions that this server meets anyway: as soon as there is capacity, or later. */
const runsSoon = (value: unknown): boolean =>
  isEmpty(value) || (isObject(value) && isNothing(value['continuation_id']));

/** Of a tool: a function, or a namespace of functions. */
export const TOOL_DECISIONS: Decisions = {
  ...CALLERS,
  async: harmless('the model waits for the result of a call.'),
};

export const TEXT_DECISIONS: Decisions = VERBOSITY;

const summarized = harmless('the thinking itself is in the output.');

export const REASONING_DECISIONS: Decisions = {
  summary: summarized,
  generate_summary: summarized,
  mode: harmless('there is only one mode.', (value) => isEmpty(value) || value === 'standard'),
};

/** Of an item of input: clients send items of earlier answers as they came. */
export const ITEM_DECISIONS: Decisions = {
  async: quiet('a call is read as the model’s own.'),
  id: quiet('an item is read by its content.'),
  phase: quiet('chat templates know no phases.'),
  caller: quiet('a call is read as the model’s own.'),
  encrypted_content: quiet('reasoning is read as text; that of other servers cannot be read.'),
  parsed_arguments: quiet('the arguments are read.'),
};

/** Of a part of a message. */
export const PART_DECISIONS: Decisions = {
  prompt_cache_breakpoint: quiet(CACHED),
  annotations: quiet('the text that they annotate is read.'),
  logprobs: quiet('the text is read.'),
  parsed: quiet('the text is read.'),
};

export const RESPONSES_DECISIONS: Decisions = {
  ...misplacedAt('/v1/responses'),
  ...CHAT_ONLY,
  ...OF_OPENAI,
  conversation: refused('Conversation ids are not supported: send previous_response_id. Leave conversation out.'),
  prompt: refused('Stored prompts are not supported: send instructions and input. Leave prompt out.'),
  context_management: refused('Context management is not supported. Leave context_management out.'),
  previous_input_messages: refused('Send the earlier conversation as items of input, or previous_response_id.'),
  access_programs: harmless('the models here have no access programs.'),
  background_options: harmless('a background response is answered as soon as there is capacity.', runsSoon),
  client_metadata: harmless('nothing is done with it.'),
  image: harmless('models here read text only.'),
  max_tool_calls: harmless('it limits built-in tools, of which there are none here.', isNothing),
  enable_response_messages: harmless('the items of input and output are the messages.'),
  messages: refused('This API has no messages. Send input, or POST to /v1/chat/completions.'),
  max_tokens: refused('This API has no max_tokens. Send max_output_tokens.', isNothing),
  max_completion_tokens: refused('This API has no max_completion_tokens. Send max_output_tokens.', isNothing),
  reasoning_effort: refused('This API has no reasoning_effort. Send reasoning: {"effort": …}.'),
};
