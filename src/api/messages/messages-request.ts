// POST /v1/messages in Anthropic's format → ChatRequest. Blocks become what chat templates know: text, reasoning, calls and their
// results. Features that need Anthropic's servers are refused by name; fields without effect are listed in `warnings`.
import { z } from 'zod';
import { nonEmpty } from '#base/non-empty';
import { stringifyExactJson } from '#base/exact-json';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import { AppError } from '#domain/errors';
import type {
  ChatRequest,
  Conversation,
  PromptOptions,
  RequestedConstraint,
  ToolChoice,
} from '#services/chat/chat-request';
import { PLAIN_OUTPUT, PLAIN_PROMPT } from '#services/chat/plain-options';
import { MAX_MESSAGES, MAX_TOOLS } from '../chat/chat-request.ts';
import { applyDecisions } from '../chat/field-decisions.ts';
import { extensionFields, MAX_STOPS } from '../chat/generation-fields.ts';
import { extensionOptions, samplingOptions } from '../chat/generation-options.ts';
import { boolean, integer, list, number, union } from '#validation/lax';
import { formatConstraint } from '../chat/structured-output.ts';
import { parse, refuse, type Loc } from '#validation/parse';
import { COUNT_DECISIONS, MESSAGES_DECISIONS } from './messages-decisions.ts';

const describe = (description: string) => ({ description });
const text = z.string();
const anything = z.looseObject({});

/** A block of any type; toMessages() decides which types are accepted, and where. */
const block = z
  .looseObject({
    type: text,
    text: text.optional(),
    thinking: text.optional(),
    signature: text.nullish(),
    data: text.optional(),
    id: text.optional(),
    name: text.optional(),
    input: z.unknown().optional(),
    tool_use_id: text.optional(),
    content: z.unknown().optional(),
    is_error: boolean().nullish(),
    cache_control: anything.nullish().meta(describe('No effect: prompts are always cached.')),
    citations: z.unknown().optional(),
  })
  .meta({ title: 'MessageBlock' });
type Block = z.output<typeof block>;

const BLOCKS_MAX = 2_000;
const blocks = list(block, BLOCKS_MAX);

const tool = z
  .looseObject({
    type: text.nullish(),
    name: text.min(1),
    description: text.nullish(),
    input_schema: anything.optional(),
    strict: boolean().nullish().meta(describe('true: arguments of calls always match the schema.')),
    cache_control: anything.nullish(),
    input_examples: z.array(anything).nullish(),
    eager_input_streaming: boolean().nullish(),
  })
  .meta({ title: 'MessagesTool' });

const jsonFormat = z.looseObject({ type: z.literal('json_schema'), schema: anything });

const conversationFields = {
  model: text.min(1).meta(describe('As in chat.')),
  messages: list(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: union({ str: text, 'list[block]': blocks }) }), MAX_MESSAGES).meta(describe('The conversation so far. If the last message is the assistant\'s, the answer continues it.')),
  system: union({ str: text, 'list[block]': blocks }).nullish().meta(describe('System prompt.')),
  tools: list(tool, MAX_TOOLS).nullish().meta(describe('Functions that the model may call. Anthropic\'s server tools are refused.')),
  tool_choice: z.looseObject({ type: z.enum(['auto', 'any', 'tool', 'none']), name: text.optional(), disable_parallel_tool_use: boolean().nullish() }).nullish().meta(describe('Default: auto.')),
  thinking: z.looseObject({ type: z.enum(['enabled', 'disabled', 'adaptive']), budget_tokens: integer({ ge: 0 }).nullish(), display: text.nullish() }).nullish().meta(describe('For templates that support it (enable_thinking). Default: the model\'s. display: `omitted` does not return the reasoning. budget_tokens: after so many tokens of reasoning, its end is forced, and the answer follows. Reasoning counts toward max_tokens.')),
  output_config: z.looseObject({ effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(), format: jsonFormat.nullish() }).nullish().meta(describe('effort: for templates that support it. format: JSON that matches a schema; the answer always matches.')),
  cache_control: anything.nullish().meta(describe('No effect: prompts are always cached.')),
  chat_template_kwargs: anything.nullish().meta(describe('Variables for the chat template; an extension of vLLM.')),
}; // prettier-ignore

export const countTokensSchema = z.looseObject(conversationFields).meta({ title: 'CountTokensRequest' });

export const messagesRequestSchema = z.looseObject({
  ...conversationFields,
  ...extensionFields,
  max_tokens: integer({ ge: 1 }).meta(describe('Maximum number of tokens in an answer. If the context has less room, the answer ends with model_context_window_exceeded.')),
  stop_sequences: z.array(text.min(1)).max(MAX_STOPS).nullish().meta(describe('Text at which the answer ends; it is removed from the answer.')),
  stream: boolean().nullish().meta(describe('Stream the answer as server-sent events.')),
  output_format: jsonFormat.nullish().meta(describe('The older name of output_config.format.')),
  temperature: number({ ge: 0 }).nullish().meta(describe('Sampling temperature. 0 is greedy. Default: the model\'s.')),
  top_p: number({ gt: 0, le: 1 }).nullish(),
  top_k: integer({ ge: 0 }).nullish(),
  metadata: z.looseObject({ user_id: text.nullish() }).nullish().meta(describe('No effect.')),
  service_tier: z.enum(['auto', 'standard_only']).nullish().meta(describe('No effect: there is only one tier.')),
}).meta({ title: 'MessagesRequest' }); // prettier-ignore

type Conversing = z.output<typeof countTokensSchema>;
type Wire = z.output<typeof messagesRequestSchema>;

export interface MessagesRequest {
  readonly request: ChatRequest;
  readonly stream: boolean;
  readonly warnings: readonly string[];
}

export function parseMessagesRequest(body: unknown): MessagesRequest {
  const wire = parse(messagesRequestSchema, body, 'body');
  refuseThread(wire['thread']);
  const decided = applyDecisions(messagesRequestSchema, MESSAGES_DECISIONS, wire);
  const { conversation, warnings } = readConversation(wire);
  return {
    request: {
      ...conversation,
      toolChoice: toolChoice(wire),
      parallelToolCalls: wire.tool_choice?.disable_parallel_tool_use !== true,
      sampling: {
        ...samplingOptions(
          { ...wire, stop: wire.stop_sequences },
          { maxTokens: wire.max_tokens, maxTokensField: 'max_tokens' },
        ),
        cutToContext: true,
        ...thinkingBudget(wire),
      },
      output: {
        ...PLAIN_OUTPUT,
        includeReasoning: wire.thinking?.display !== 'omitted',
        includeStop: wire.include_stop_str_in_output ?? false,
        skipSpecialTokens: wire.skip_special_tokens ?? true,
      },
      ...extensionOptions(wire, requestedFormat(wire)),
    },
    stream: wire.stream ?? false,
    warnings: [...decided, ...new Set(warnings)],
  };
}

/** Throws if vLLM's field has another value. */
function thinkingBudget({ thinking, thinking_token_budget: other }: Wire) {
  const budget = thinking?.type === 'disabled' ? null : (thinking?.budget_tokens ?? null);
  if (budget === null) return {};
  if ((other ?? -1) !== -1 && other !== budget)
    refuse(['body', 'thinking_token_budget'], 'Send either thinking.budget_tokens or thinking_token_budget.', other);
  return { thinkingTokens: budget, thinkingTokensField: 'thinking.budget_tokens' };
}

/** Throws if both names of the field are used. */
function requestedFormat({ output_config: output, output_format: older }: Wire): RequestedConstraint | null {
  const format = output?.format ?? older;
  if (!format) return null;
  if (output?.format && older)
    refuse(['body', 'output_format'], 'Send either output_config.format or output_format.', older);
  const asked = formatConstraint({ type: 'json_schema', json_schema: { schema: format.schema } });
  return asked && { constraint: asked, param: output?.format ? 'output_config' : 'output_format' };
}

/** Anthropic's tool runners, told by this code, send the whole conversation instead. */
function refuseThread(thread: unknown): void {
  if (thread === undefined || thread === null) return;
  const message = 'The server does not keep threads. Send the whole conversation without thread.';
  throw new AppError('thread_unsupported_request', message, { param: 'thread' });
}

export function parseCountTokens(body: unknown): { conversation: Conversation; warnings: readonly string[] } {
  const wire = parse(countTokensSchema, body, 'body');
  const decided = applyDecisions(countTokensSchema, COUNT_DECISIONS, wire);
  const { conversation, warnings } = readConversation(wire);
  return { conversation, warnings: [...decided, ...new Set(warnings)] };
}

function readConversation(wire: Conversing): { conversation: Conversation; warnings: string[] } {
  const warnings: string[] = [];
  const system = wire.system ? [toSystem(wire.system, ['body', 'system'])] : [];
  const messages = wire.messages.flatMap((message, index) =>
    toMessages(message, ['body', 'messages', index, 'content'], warnings),
  );
  if (messages.length === 0) refuse(['body', 'messages'], 'Send at least one message.', wire.messages);
  return {
    conversation: {
      model: wire.model,
      messages: [...system, ...messages],
      tools: nonEmpty(wire.tools?.map(toTool)),
      prompt: promptOptions(wire, messages),
    },
    warnings,
  };
}

function promptOptions(wire: Conversing, messages: readonly ChatMessage[]): PromptOptions {
  const { thinking, output_config: output } = wire;
  const enabled = thinking ? { enable_thinking: thinking.type !== 'disabled' } : {};
  const last = messages.at(-1)!;
  return {
    ...PLAIN_PROMPT,
    // A call is complete: the answer cannot continue it.
    continueFinalMessage: last.role === 'assistant' && !last.tool_calls,
    chatTemplateKwargs: { ...enabled, ...wire.chat_template_kwargs },
    reasoningEffort: thinking?.type === 'disabled' ? null : (output?.effort ?? null),
  };
}

function toSystem(system: string | readonly Block[], loc: Loc): ChatMessage {
  if (typeof system === 'string') return { role: 'system', content: system };
  return { role: 'system', content: system.map((each, index) => textBlock(each, [...loc, index])) };
}

const content = (parts: readonly { type: 'text'; text: string }[]): ChatMessage['content'] =>
  parts.length === 1 ? parts[0]!.text : parts;

function textBlock({ type, text: words }: Block, loc: Loc): { type: 'text'; text: string } {
  if (type !== 'text')
    refuse(
      [...loc, 'type'],
      `Blocks of type ${type.slice(0, 50)} are not supported: models here read text only.`,
      type,
    );
  if (words === undefined) refuse([...loc, 'text'], 'A text block must have a text.', null);
  return { type: 'text', text: words };
}

/** One turn on the wire may become several turns of a template: each tool result is one. */
function toMessages({ role, content: said }: Wire['messages'][number], loc: Loc, warnings: string[]): ChatMessage[] {
  if (typeof said === 'string') return [{ role, content: said }];
  return role === 'assistant' ? [toAssistant(said, loc, warnings)] : toTurns(role, said, loc);
}

function toAssistant(parts: readonly Block[], loc: Loc, warnings: string[]): ChatMessage {
  const texts: { type: 'text'; text: string }[] = [];
  const thoughts: string[] = [];
  const calls: NonNullable<ChatMessage['tool_calls']>[number][] = [];
  for (const [index, each] of parts.entries()) {
    const here = [...loc, index];
    if (each.type === 'thinking') thoughts.push(each.thinking ?? '');
    else if (each.type === 'redacted_thinking')
      warnings.push('redacted_thinking of another server cannot be read: it was not used.');
    else if (each.type === 'tool_use') calls.push(toCall(each, here));
    else texts.push(textBlock(each, here));
  }
  return {
    role: 'assistant',
    content: texts.length > 0 ? content(texts) : calls.length > 0 ? null : '',
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(thoughts.length > 0 ? { reasoning_content: thoughts.join('') } : {}),
  };
}

function toCall({ id, name, input }: Block, loc: Loc) {
  if (name === undefined) refuse([...loc, 'name'], 'A tool_use block must have a name.', null);
  return { id, type: 'function', function: { name, arguments: stringifyExactJson(input ?? {}) } };
}

function toTurns(role: string, parts: readonly Block[], loc: Loc): ChatMessage[] {
  const turns: ChatMessage[] = [];
  let texts: { type: 'text'; text: string }[] = [];
  const endTurn = () => {
    if (texts.length > 0) turns.push({ role, content: content(texts) });
    texts = [];
  };
  for (const [index, each] of parts.entries()) {
    const here = [...loc, index];
    if (each.type !== 'tool_result') {
      texts.push(textBlock(each, here));
      continue;
    }
    endTurn();
    turns.push(toResult(each, here));
  }
  endTurn();
  return turns;
}

/** The error flag is passed on, because templates may read it. */
function toResult({ tool_use_id: id, content: result, is_error: isError }: Block, loc: Loc): ChatMessage {
  if (id === undefined)
    refuse([...loc, 'tool_use_id'], 'A tool_result block must have the tool_use_id of its call.', null);
  const parts = typeof result === 'string' ? result : parse(blocks.nullish(), result ?? null, 'body');
  const said =
    typeof parts === 'string'
      ? parts
      : content((parts ?? []).map((each, index) => textBlock(each, [...loc, 'content', index])));
  return { role: 'tool', tool_call_id: id, content: said, ...(isError ? { is_error: true } : {}) };
}

function toTool(
  { type, name, description, input_schema: parameters, strict }: z.output<typeof tool>,
  index: number,
): ToolDefinition {
  const loc = ['body', 'tools', index];
  if (type && type !== 'custom')
    refuse([...loc, 'type'], `Server tools such as ${type.slice(0, 50)} are not supported. Send your own tools.`, type);
  if (parameters === undefined) refuse([...loc, 'input_schema'], 'A tool must have an input_schema.', null);
  return {
    type: 'function',
    function: { name, ...(description ? { description } : {}), parameters, ...(strict ? { strict: true } : {}) },
  };
}

function toolChoice({ tool_choice: choice, tools }: Wire): ToolChoice {
  const names = (tools ?? []).map(({ name }) => name);
  if (!choice) return { mode: names.length > 0 ? 'auto' : 'none', callable: null };
  const { type, name } = choice;
  if (type === 'none' || names.length === 0) {
    if (type === 'any' || type === 'tool')
      refuse(['body', 'tool_choice'], 'When using `tool_choice`, `tools` must be set.', choice);
    return { mode: 'none', callable: null };
  }
  if (type === 'auto') return { mode: 'auto', callable: null };
  if (type === 'any') return { mode: 'required', callable: null };
  if (name === undefined || !names.includes(name))
    refuse(['body', 'tool_choice', 'name'], 'tool_choice names a tool that is not in tools.', name ?? null);
  return { mode: 'named', callable: [name] };
}
