// The fields of POST /v1/messages and of count_tokens, with descriptions, and what is said about those that are not read.
// messages-request.ts translates them for the services.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { boolean, integer, list, number, union } from '#validation/lax';
import type { Loc } from '#validation/parse';
import { asSent } from '#validation/read-ahead';
import { MAX_MESSAGES, MAX_TOOLS } from '../chat/chat-request.ts';
import { applyDecisions } from '../chat/field-decisions.ts';
import { extensionFields, MAX_STOPS } from '../chat/generation-fields.ts';
import {
  BLOCK_DECISIONS,
  OUTPUT_CONFIG_DECISIONS,
  THINKING_DECISIONS,
  TOOL_DECISIONS,
  whyNotOffered,
} from './messages-decisions.ts';

const text = z.string();
const anything = z.looseObject({});
const inPrompt = asSent(anything);

/** A block of any type; toMessages() decides which types are accepted, and where. */
export const block = z
  .looseObject({
    type: text,
    text: text.optional(),
    thinking: text.optional(),
    signature: text.nullish().describe('No effect.'),
    data: text.optional().describe('No effect.'),
    id: text.optional(),
    name: text.optional(),
    input: z.unknown().optional(),
    tool_use_id: text.optional().describe('Id of the tool call that this result answers.'),
    content: z.unknown().optional(),
    is_error: boolean().nullish().describe('Whether the tool call failed.'),
    cache_control: anything.nullish().describe('No effect: prompts are always cached.'),
    citations: z.unknown().optional().describe('No effect.'),
  })
  .meta({ title: 'MessageBlock' });
export type Block = z.output<typeof block>;

const BLOCKS_MAX = 2_000;
export const blocks = list(block, BLOCKS_MAX);
const EXAMPLES_MAX = 100; // as Anthropic’s servers take few; the prompt has all of them

export const tool = z
  .looseObject({
    type: text.nullish(),
    name: text.min(1).optional().describe('Required of your own tools.'),
    description: text.nullish(),
    input_schema: inPrompt.optional().describe('JSON schema of the arguments.'),
    strict: boolean().nullish().describe('true: arguments of calls always match the schema.'),
    input_examples: z
      .array(inPrompt)
      .max(EXAMPLES_MAX)
      .nullish()
      .describe('Arguments as the model should write them: given to it as `examples` of the schema.'),
    defer_loading: boolean().nullish().describe('For templates that know it.'),
    cache_control: anything.nullish().describe('No effect: prompts are always cached.'),
    eager_input_streaming: boolean().nullish().describe('No effect: arguments are streamed as they are generated.'),
  })
  .meta({ title: 'MessagesTool' });

export const jsonFormat = z.looseObject({ type: z.literal('json_schema'), schema: anything });
export const toolChoiceSchema = z.looseObject({
  type: z.enum(['auto', 'any', 'tool', 'none']),
  name: text.optional(),
  disable_parallel_tool_use: boolean().nullish().describe('True: an answer contains at most one tool call.'),
});
export const thinkingSchema = z.looseObject({
  type: z.enum(['enabled', 'disabled', 'adaptive']),
  budget_tokens: integer({ ge: 0 }).nullish().describe('Maximum number of reasoning tokens.'),
  display: z
    .enum(['summarized', 'omitted', 'updates'])
    .nullish()
    .describe('omitted: the reasoning is not returned. Otherwise it is returned as it was generated.'),
});
const effort = z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish();
export const messageSchema = z
  .looseObject({
    role: z.enum(['user', 'assistant', 'system']),
    content: union({ str: text, 'list[block]': blocks }).optional(),
    clear_at: z
      .enum(['next_user_message', 'never'])
      .nullish()
      .describe(
        "Of a system message. next_user_message: the model no longer reads it once a later message is the user's.",
      ),
    output_config: z
      .looseObject({ effort })
      .nullish()
      .describe('Of a system message: the effort of the turn that it follows.'),
  })
  .superRefine(refuseEmpty)
  .meta({ title: 'MessageParam' });
export const outputConfig = z.looseObject({ effort, format: jsonFormat.nullish() });

const conversationFields = {
  model: text.min(1).describe('As in chat.'),
  messages: list(messageSchema, MAX_MESSAGES).describe(
    "The conversation so far. If the last message is the assistant's, the answer continues it.",
  ),
  system: union({ str: text, 'list[block]': blocks }).nullish().describe('System prompt.'),
  tools: list(tool, MAX_TOOLS)
    .nullish()
    .describe("Functions that the model may call. Tools that Anthropic's servers run are not offered to the model."),
  tool_choice: toolChoiceSchema.nullish().describe('Default: auto.'),
  thinking: thinkingSchema
    .nullish()
    .describe(
      "For templates that support it (enable_thinking). Default: the model's. display: `omitted` does not return the reasoning. budget_tokens: after so many tokens of reasoning, its end is forced, and the answer follows. Reasoning counts toward max_tokens.",
    ),
  output_config: outputConfig
    .nullish()
    .describe('effort: for templates that support it. format: JSON that matches a schema; the answer always matches.'),
  cache_control: anything.nullish().describe('No effect: prompts are always cached.'),
  chat_template_kwargs: inPrompt.nullish().describe('Variables for the chat template; an extension of vLLM.'),
};

export const countTokensSchema = z.looseObject(conversationFields).meta({ title: 'CountTokensRequest' });

export const messagesRequestSchema = z
  .looseObject({
    ...conversationFields,
    ...extensionFields,
    max_tokens: integer({ ge: 1 }).describe(
      'Maximum number of tokens in an answer. If the context has less room, the answer ends with model_context_window_exceeded.',
    ),
    stop_sequences: z
      .array(text.min(1))
      .max(MAX_STOPS)
      .nullish()
      .describe('Text at which the answer ends; it is removed from the answer.'),
    stream: boolean().nullish().describe('Stream the answer as server-sent events.'),
    output_format: jsonFormat.nullish().describe('The older name of output_config.format.'),
    temperature: number({ ge: 0 }).nullish().describe("Sampling temperature. 0 is greedy. Default: the model's."),
    top_p: number({ gt: 0, le: 1 }).nullish(),
    top_k: integer({ ge: 0 }).nullish(),
    metadata: z
      .looseObject({ user_id: text.nullish().describe('Your identifier for the end user; it has no effect.') })
      .nullish()
      .describe('No effect.'),
    service_tier: z.enum(['auto', 'standard_only']).nullish().describe('No effect: there is only one tier.'),
  })
  .meta({ title: 'MessagesRequest' });

export type Tool = z.output<typeof tool>;
export type Message = z.output<typeof messageSchema>;
export type Conversing = z.output<typeof countTokensSchema>;
export type Wire = z.output<typeof messagesRequestSchema>;

/** A system message may be there for its effort alone. */
function refuseEmpty(
  message: { role: string; content?: unknown; clear_at?: unknown; output_config?: unknown },
  ctx: z.core.$RefinementCtx,
) {
  const { role, content: said, clear_at: clearAt, output_config: output } = message;
  const complain = (field: string, complaint: { type: string; msg: string }) =>
    ctx.addIssue({ code: 'custom', path: [field], message: complaint.msg, params: { complaint } });
  const onlySystem = (value: unknown) => role !== 'system' && value !== undefined && value !== null;
  if (onlySystem(clearAt) || onlySystem(output))
    complain(onlySystem(clearAt) ? 'clear_at' : 'output_config', {
      type: 'value_error',
      msg: 'Value error, Only messages of the role system can have this field.',
    });
  if (said === undefined && !(role === 'system' && isObject(output) && output['effort']))
    complain('content', { type: 'missing', msg: 'Field required' });
}

/** About fields of the objects within the request. */
export function nestedWarnings({
  messages,
  system,
  tools,
  tool_choice: choice,
  thinking,
  output_config: output,
}: Conversing) {
  const found = new Set<string>();
  const note = (...of: Parameters<typeof applyDecisions>) => {
    for (const warning of applyDecisions(...of)) found.add(warning);
  };
  const noteBlocks = (said: string | readonly Block[] | null | undefined, at: Loc) => {
    if (typeof said !== 'object') return;
    for (const [index, each] of (said ?? []).entries()) note(block, BLOCK_DECISIONS, each, [...at, index]);
  };
  for (const [index, each] of messages.entries()) {
    note(messageSchema, {}, each, ['messages', index]);
    noteBlocks(each.content, ['messages', index, 'content']);
  }
  noteBlocks(system, ['system']);
  for (const [index, each] of (tools ?? []).entries())
    if (whyNotOffered(each) === null) note(tool, TOOL_DECISIONS, each, ['tools', index]);
  note(toolChoiceSchema, {}, choice ?? {}, ['tool_choice']);
  note(thinkingSchema, THINKING_DECISIONS, thinking ?? {}, ['thinking']);
  note(outputConfig, OUTPUT_CONFIG_DECISIONS, output ?? {}, ['output_config']);
  return [...found];
}
