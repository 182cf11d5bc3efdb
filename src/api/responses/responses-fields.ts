// The fields of POST /v1/responses, with descriptions. responses-request.ts translates them for the services.
import { z } from 'zod';
import { MAX_TOOLS } from '../chat/chat-request.ts';
import { extensionFields, modelField, samplingFields, stoppingFields } from '../chat/generation-fields.ts';
import { NOT_IN_PROMPT } from '../chat/structured-output.ts';
import { boolean, integer, keyed, list, number, union } from '#validation/lax';
import { asSent } from '#validation/read-ahead';
import { inputItem, ITEMS_MAX } from './responses-input.ts';

const text = z.string();
const anything = z.looseObject({});
const inPrompt = asSent(anything);
const METADATA_MAX = 16; // as OpenAI

export const functionTool = z.looseObject({
  type: text,
  name: text.min(1).optional(),
  description: text.nullish(),
  parameters: inPrompt.nullish(),
  strict: boolean().nullish().describe('true: arguments of calls always match the schema. Default: false.'),
  output_schema: inPrompt.nullish().describe('Schema of the results: given to the model as `return` of the function.'),
  defer_loading: boolean().nullish().describe('For templates that know it.'),
});
export const tool = functionTool.extend({
  tools: list(functionTool, MAX_TOOLS).nullish().describe('Of a namespace: its functions.'),
});
export const functionChoice = z.looseObject({ type: z.literal('function'), name: text, namespace: text.nullish() });

export const format = z.looseObject({
  type: z.enum(['text', 'json_object', 'json_schema']),
  name: text.nullish().meta(NOT_IN_PROMPT),
  description: text.nullish().meta(NOT_IN_PROMPT),
  schema: anything.nullish(),
  strict: boolean().nullish(),
});

export const textConfig = z.looseObject({
  format: format.nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish().describe('Length of answers; it has no effect.'),
});
export const reasoningConfig = z.looseObject({
  effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  summary: text.nullish(),
  context: z
    .enum(['auto', 'current_turn', 'all_turns'])
    .nullish()
    .describe(
      'Which reasoning of input the chat template is given. current_turn: that after the last message of the user. Default: all.',
    ),
});
export const allowedTools = z.looseObject({
  type: z.literal('allowed_tools'),
  mode: z.enum(['auto', 'required']),
  tools: z.array(functionChoice).min(1).max(MAX_TOOLS),
});

export const streamOptions = z.looseObject({
  include_obfuscation: boolean()
    .nullish()
    .describe('Whether to pad events to hide their length. It has no effect: events are not padded.'),
});

export const responsesRequestSchema = z
  .looseObject({
    ...extensionFields,
    model: modelField,
    input: union({ str: text, 'list[item]': list(inputItem, ITEMS_MAX) }).describe(
      'A text, or a list of items: messages, tool calls, their results and reasoning, as in the `output` of answers.',
    ),
    instructions: text.nullish().describe('System prompt.'),
    max_output_tokens: integer({ ge: 1 })
      .nullish()
      .describe('Maximum number of tokens in the answer, including reasoning. Default: as many as fit in the context.'),
    temperature: number({ ge: 0 }).nullish().describe("Sampling temperature. 0 is greedy. Default: the model's."),
    top_p: number({ gt: 0, le: 1 }).nullish(),
    top_k: samplingFields.top_k,
    stop: stoppingFields.stop,
    chat_template_kwargs: inPrompt.nullish().describe('Variables for the chat template; an extension of vLLM.'),
    include_reasoning: boolean().nullish().describe('false: the reasoning is generated and counted, but not returned.'),
    top_logprobs: integer({ ge: 0 })
      .nullish()
      .describe('Number of alternatives per token of output_text; needs message.output_text.logprobs in `include`.'),
    tools: list(tool, MAX_TOOLS)
      .nullish()
      .describe(
        "Functions that the model may call, also in namespaces. web_search is not offered to the model; OpenAI's other built-in tools are refused.",
      ),
    tool_choice: union({
      str: z.enum(['none', 'auto', 'required']),
      function: functionChoice,
      allowed_tools: allowedTools,
    }).nullish(),
    parallel_tool_calls: boolean().nullish().describe('false: only the first tool call is returned. Default: true.'),
    text: textConfig.nullish().describe('format: JSON, or JSON that matches a schema. The answer always matches.'),
    reasoning: reasoningConfig
      .nullish()
      .describe(
        'effort: for templates that support it; none turns reasoning off. The reasoning is an item of the output.',
      ),
    truncation: z
      .enum(['auto', 'disabled'])
      .nullish()
      .describe('auto: a prompt that is too long is truncated at the start. Default: disabled.'),
    include: z
      .array(text)
      .max(20)
      .nullish()
      .describe('Additional output: message.output_text.logprobs. Other values have no effect.'),
    stream: boolean()
      .nullish()
      .describe('Stream the answer as server-sent events, each with a type and a sequence number.'),
    stream_options: streamOptions.nullish().describe('No effect: nothing is obfuscated.'),
    metadata: keyed(text.max(64), text.max(512))
      .refine((value) => Object.keys(value).length <= METADATA_MAX, { message: `At most ${METADATA_MAX} pairs.` })
      .nullish()
      .describe('Returned with the response.'),
    store: boolean()
      .nullish()
      .describe('Whether the response is stored, for GET /v1/responses/{id} and previous_response_id. Default: true.'),
    previous_response_id: text
      .min(1)
      .max(200)
      .nullish()
      .describe('Continue the conversation of this response. Its instructions are not carried over.'),
    background: boolean()
      .nullish()
      .describe(
        'true: the response is generated in the background when there is capacity, without an open connection. Read or stream it with GET /v1/responses/{id}.',
      ),
    user: text.nullish().describe('No effect.'),
    safety_identifier: text.nullish().describe('No effect.'),
    prompt_cache_key: text.nullish().describe('No effect: prompts are always cached.'),
    prompt_cache_retention: text.nullish().describe('No effect: prompts stay cached while there is space.'),
    service_tier: text.nullish().describe('No effect: there is only one tier.'),
  })
  .meta({ title: 'ResponseRequest' });

export type Wire = z.output<typeof responsesRequestSchema>;
