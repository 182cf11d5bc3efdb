// What may be sent to POST /v1/responses, and what each field does. What they mean for the services is responses-request.ts.
import { z } from 'zod';
import { MAX_TOOLS } from './chat-request.ts';
import { modelField } from './generation-fields.ts';
import { boolean, integer, list, number, union } from './lax.ts';
import { inputItem, ITEMS_MAX } from './responses-input.ts';

const describe = (description: string) => ({ description });
const text = z.string();
const anything = z.looseObject({});
const METADATA_MAX = 16; // as OpenAI

export const tool = z.looseObject({
  type: text,
  name: text.min(1).optional(),
  description: text.nullish(),
  parameters: anything.nullish(),
  strict: boolean().nullish().meta(describe('true: a call has arguments of the schema only. Default: false.')),
});
const functionChoice = z.looseObject({ type: z.literal('function'), name: text });

export const format = z.looseObject({
  type: z.enum(['text', 'json_object', 'json_schema']),
  name: text.nullish(),
  description: text.nullish(),
  schema: anything.nullish(),
  strict: boolean().nullish(),
});

export const responsesRequestSchema = z.looseObject({
  model: modelField,
  input: union({ str: text, 'list[item]': list(inputItem, ITEMS_MAX) }).meta(describe('A text, or turns, calls, their results and thinking, as answers have them in `output`.')),
  instructions: text.nullish().meta(describe('What goes before the conversation.')),
  max_output_tokens: integer({ ge: 1 }).nullish().meta(describe('Most tokens of the answer, thinking included. Default: what fits in the context.')),
  temperature: number({ ge: 0 }).nullish().meta(describe('0 is greedy. Default: the model\'s.')),
  top_p: number({ gt: 0, le: 1 }).nullish(),
  top_logprobs: integer({ ge: 0 }).nullish().meta(describe('Alternatives per token of output_text; with include: message.output_text.logprobs.')),
  tools: list(tool, MAX_TOOLS).nullish().meta(describe('Functions that the model may call. Tools that OpenAI\'s servers run are refused.')),
  tool_choice: union({
    str: z.enum(['none', 'auto', 'required']),
    function: functionChoice,
    allowed_tools: z.looseObject({ type: z.literal('allowed_tools'), mode: z.enum(['auto', 'required']), tools: z.array(functionChoice).min(1).max(MAX_TOOLS) }),
  }).nullish(),
  parallel_tool_calls: boolean().nullish().meta(describe('false: the first call only. Default: true.')),
  text: z.looseObject({ format: format.nullish(), verbosity: z.enum(['low', 'medium', 'high']).nullish() }).nullish().meta(describe('format: JSON, or JSON of a schema; always kept to.')),
  reasoning: z.looseObject({ effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(), summary: text.nullish() }).nullish().meta(describe('effort: for templates that read it; none turns thinking off. The thinking itself is an item of the output.')),
  truncation: z.enum(['auto', 'disabled']).nullish().meta(describe('auto: of a prompt that is too long, the end is kept. Default: disabled.')),
  include: z.array(text).max(20).nullish().meta(describe('message.output_text.logprobs; the others have nothing to show here.')),
  stream: boolean().nullish().meta(describe('Server-sent events, each with its type and number.')),
  stream_options: z.looseObject({ include_obfuscation: boolean().nullish() }).nullish().meta(describe('No effect: nothing is obfuscated.')),
  metadata: z.record(text.max(64), text.max(512)).refine((value) => Object.keys(value).length <= METADATA_MAX, { message: `At most ${METADATA_MAX} pairs.` }).nullish().meta(describe('Comes back with the answer.')),
  store: boolean().nullish().meta(describe('Whether the answer is kept, for GET /v1/responses/{id} and previous_response_id. Default: true.')),
  previous_response_id: text.min(1).max(200).nullish().meta(describe('Go on behind that conversation and its answer. Instructions are not taken over.')),
  background: boolean().nullish().meta(describe('true: answered when there is room, whoever is connected. Read it with GET /v1/responses/{id}, or stream it from there.')),
  user: text.nullish().meta(describe('No effect.')),
  safety_identifier: text.nullish().meta(describe('No effect.')),
  prompt_cache_key: text.nullish().meta(describe('No effect: computed prompts are kept anyway.')),
  prompt_cache_retention: text.nullish().meta(describe('No effect: computed prompts are kept while there is room.')),
  service_tier: text.nullish().meta(describe('No effect: there is one tier.')),
}); // prettier-ignore

export type Wire = z.output<typeof responsesRequestSchema>;
