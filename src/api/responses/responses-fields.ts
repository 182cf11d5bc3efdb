// The fields of POST /v1/responses, with descriptions. responses-request.ts translates them for the services.
import { z } from 'zod';
import { MAX_TOOLS } from '../chat/chat-request.ts';
import { extensionFields, modelField, samplingFields, stoppingFields } from '../chat/generation-fields.ts';
import { boolean, integer, list, number, union } from '#validation/lax';
import { inputItem, ITEMS_MAX } from './responses-input.ts';

const describe = (description: string) => ({ description });
const text = z.string();
const anything = z.looseObject({});
const METADATA_MAX = 16; // as OpenAI

export const functionTool = z.looseObject({
  type: text,
  name: text.min(1).optional(),
  description: text.nullish(),
  parameters: anything.nullish(),
  strict: boolean().nullish().meta(describe('true: arguments of calls always match the schema. Default: false.')),
});
const tool = functionTool.extend({
  tools: list(functionTool, MAX_TOOLS).nullish().meta(describe('Of a namespace: its functions.')),
});
const functionChoice = z.looseObject({ type: z.literal('function'), name: text, namespace: text.nullish() });

export const format = z.looseObject({
  type: z.enum(['text', 'json_object', 'json_schema']),
  name: text.nullish(),
  description: text.nullish(),
  schema: anything.nullish(),
  strict: boolean().nullish(),
});

export const responsesRequestSchema = z.looseObject({
  ...extensionFields,
  model: modelField,
  input: union({ str: text, 'list[item]': list(inputItem, ITEMS_MAX) }).meta(describe('A text, or a list of items: messages, tool calls, their results and reasoning, as in the `output` of answers.')),
  instructions: text.nullish().meta(describe('System prompt.')),
  max_output_tokens: integer({ ge: 1 }).nullish().meta(describe('Maximum number of tokens in the answer, including reasoning. Default: as many as fit in the context.')),
  temperature: number({ ge: 0 }).nullish().meta(describe('Sampling temperature. 0 is greedy. Default: the model\'s.')),
  top_p: number({ gt: 0, le: 1 }).nullish(),
  top_k: samplingFields.top_k,
  stop: stoppingFields.stop,
  chat_template_kwargs: anything.nullish().meta(describe('Variables for the chat template; an extension of vLLM.')),
  include_reasoning: boolean().nullish().meta(describe('false: the reasoning is generated and counted, but not returned.')),
  top_logprobs: integer({ ge: 0 }).nullish().meta(describe('Number of alternatives per token of output_text; needs message.output_text.logprobs in `include`.')),
  tools: list(tool, MAX_TOOLS).nullish().meta(describe('Functions that the model may call, also in namespaces. web_search is not offered to the model; OpenAI\'s other built-in tools are refused.')),
  tool_choice: union({
    str: z.enum(['none', 'auto', 'required']),
    function: functionChoice,
    allowed_tools: z.looseObject({ type: z.literal('allowed_tools'), mode: z.enum(['auto', 'required']), tools: z.array(functionChoice).min(1).max(MAX_TOOLS) }),
  }).nullish(),
  parallel_tool_calls: boolean().nullish().meta(describe('false: only the first tool call is returned. Default: true.')),
  text: z.looseObject({ format: format.nullish(), verbosity: z.enum(['low', 'medium', 'high']).nullish() }).nullish().meta(describe('format: JSON, or JSON that matches a schema. The answer always matches.')),
  reasoning: z.looseObject({ effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(), summary: text.nullish() }).nullish().meta(describe('effort: for templates that support it; none turns reasoning off. The reasoning is an item of the output.')),
  truncation: z.enum(['auto', 'disabled']).nullish().meta(describe('auto: a prompt that is too long is truncated at the start. Default: disabled.')),
  include: z.array(text).max(20).nullish().meta(describe('Additional output: message.output_text.logprobs. Other values have no effect.')),
  stream: boolean().nullish().meta(describe('Stream the answer as server-sent events, each with a type and a sequence number.')),
  stream_options: z.looseObject({ include_obfuscation: boolean().nullish() }).nullish().meta(describe('No effect: nothing is obfuscated.')),
  metadata: z.record(text.max(64), text.max(512)).refine((value) => Object.keys(value).length <= METADATA_MAX, { message: `At most ${METADATA_MAX} pairs.` }).nullish().meta(describe('Returned with the response.')),
  store: boolean().nullish().meta(describe('Whether the response is stored, for GET /v1/responses/{id} and previous_response_id. Default: true.')),
  previous_response_id: text.min(1).max(200).nullish().meta(describe('Continue the conversation of this response. Its instructions are not carried over.')),
  background: boolean().nullish().meta(describe('true: the response is generated in the background when there is capacity, without an open connection. Read or stream it with GET /v1/responses/{id}.')),
  user: text.nullish().meta(describe('No effect.')),
  safety_identifier: text.nullish().meta(describe('No effect.')),
  prompt_cache_key: text.nullish().meta(describe('No effect: prompts are always cached.')),
  prompt_cache_retention: text.nullish().meta(describe('No effect: prompts stay cached while there is space.')),
  service_tier: text.nullish().meta(describe('No effect: there is only one tier.')),
}); // prettier-ignore

export type Wire = z.output<typeof responsesRequestSchema>;
