// POST /v1/messages in Anthropic's format → ChatRequest. Blocks become what chat templates know: text, reasoning, calls and their
// results. Features that need Anthropic's servers are refused by name, tools among them only if they are forced; fields without effect are listed in `warnings`.
import { asPythonKnows } from '#base/python-form';
import { stringifySentJson } from '#base/sent-json';
import type { ChatMessage } from '#domain/chat';
import { AppError } from '#domain/errors';
import type { ChatRequest, Conversation, PromptOptions, RequestedConstraint } from '#services/chat/chat-request';
import { PLAIN_OUTPUT, PLAIN_PROMPT } from '#services/chat/plain-options';
import { applyDecisions } from '../chat/field-decisions.ts';
import { extensionOptions, samplingOptions } from '../chat/generation-options.ts';
import { formatConstraint } from '../chat/structured-output.ts';
import { sentEffort, sentKwargs, type SentVariable } from '../chat/unread-variables.ts';
import { parse, refuse, ValidationError, type Loc } from '#validation/parse';
import { COUNT_DECISIONS, MESSAGES_DECISIONS, unsupportedStrategy } from './messages-decisions.ts';
import {
  blocks,
  countTokensSchema,
  messagesRequestSchema,
  nestedWarnings,
  type Block,
  type Conversing,
  type Message,
  type Wire,
} from './messages-fields.ts';
import { offeredTools, toolChoice } from './messages-tools.ts';

export interface MessagesRequest {
  readonly request: ChatRequest;
  readonly stream: boolean;
  readonly warnings: readonly string[];
  /** Whether they had an effect is known with the model. Without those of `thinking`, which is sent to any model. */
  readonly variables: readonly SentVariable[];
}

export function parseMessagesRequest(body: unknown): MessagesRequest {
  const wire = parse(messagesRequestSchema, body, 'body');
  refuseThread(wire['thread']);
  refuseEdits(wire);
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
    variables: variablesOf(wire),
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

/** In the words of Anthropic's servers, on which Claude Code stops sending the strategy. */
function refuseEdits({ model, ['context_management']: management }: Conversing): void {
  const strategy = unsupportedStrategy(management);
  if (strategy === null) return;
  const message = `${model.replace(/\s/g, '_').slice(0, 128)} does not support the ${strategy.slice(0, 100)} context management strategy. Leave it out of context_management.edits and keep the conversation short yourself; only clear_thinking_20251015 with keep "all", which changes nothing, is supported.`;
  throw new AppError('invalid_request', message, { param: 'context_management' });
}

const variablesOf = (wire: Conversing): SentVariable[] => [
  ...sentKwargs(wire.chat_template_kwargs),
  ...sentEffort('output_config.effort', wire.output_config?.effort),
];

export function parseCountTokens(
  body: unknown,
): { conversation: Conversation } & Pick<MessagesRequest, 'warnings' | 'variables'> {
  const wire = parse(countTokensSchema, body, 'body');
  refuseEdits(wire);
  const decided = applyDecisions(countTokensSchema, COUNT_DECISIONS, wire);
  const { conversation, warnings } = readConversation(wire);
  return { conversation, warnings: [...decided, ...new Set(warnings)], variables: variablesOf(wire) };
}

function readConversation(wire: Conversing): { conversation: Conversation; warnings: string[] } {
  const warnings: string[] = [];
  const system = wire.system ? toMessages({ role: 'system', content: wire.system }, ['body', 'system'], warnings) : [];
  const lastOfUser = wire.messages.findLastIndex(({ role }) => role === 'user');
  const messages = wire.messages.flatMap((message, index) =>
    index < lastOfUser && message.clear_at === 'next_user_message'
      ? []
      : toMessages(message, ['body', 'messages', index, 'content'], warnings),
  );
  const offered = offeredTools(wire.tools);
  warnings.push(...offered.warnings, ...nestedWarnings(wire));
  if (messages.length === 0) refuse(['body', 'messages'], 'Send at least one message.', wire.messages);
  return {
    conversation: {
      model: wire.model,
      messages: [...system, ...messages],
      tools: offered.definitions,
      prompt: promptOptions(wire, messages),
    },
    warnings,
  };
}

function promptOptions(wire: Conversing, messages: readonly ChatMessage[]): PromptOptions {
  const { thinking } = wire;
  const enabled = thinking ? { enable_thinking: thinking.type !== 'disabled' } : {};
  const last = messages.at(-1)!;
  return {
    ...PLAIN_PROMPT,
    mergesSystem: true,
    // A call is complete: the answer cannot continue it.
    continueFinalMessage: last.role === 'assistant' && !last.tool_calls,
    chatTemplateKwargs: asPythonKnows({ ...enabled, ...wire.chat_template_kwargs }, wire.chat_template_kwargs ?? {}),
    reasoningEffort: thinking?.type === 'disabled' ? null : effortOf(wire),
  };
}

/** Of the turn: a system message in it may ask for another. The results of tools begin no turn. */
function effortOf({ messages, output_config: output }: Conversing) {
  const isTurn = ({ role, content: said }: Message) =>
    role === 'user' && (typeof said === 'string' || said?.some(({ type }) => type !== 'tool_result') === true);
  const turn = messages.slice(messages.findLastIndex(isTurn) + 1);
  return turn.findLast((message) => message.output_config?.effort)?.output_config?.effort ?? output?.effort ?? null;
}

/** Claude Code's note to whoever bills it. It differs by conversation, so that no two prompts would begin alike; vLLM leaves it out too. */
const ATTRIBUTION = 'x-anthropic-billing-header';

/** Without that line. */
const withoutAttribution = (words: string): string =>
  words.startsWith(ATTRIBUTION) ? words.replace(/^[^\n]*\n?/, '') : words;

/** Blocks follow each other without a line between them, as in vLLM. */
function toSystem(system: string | readonly Block[], loc: Loc): ChatMessage[] {
  const texts =
    typeof system === 'string' ? [system] : system.map((each, index) => textBlock(each, [...loc, index]).text);
  const content = texts.map(withoutAttribution).join('');
  return content === '' ? [] : [{ role: 'system', content }];
}

/** Empty blocks say nothing. */
function content(parts: readonly { type: 'text'; text: string }[]): ChatMessage['content'] {
  const said = parts.filter(({ text: words }) => words !== '');
  return said.length > 1 ? said : (said[0]?.text ?? '');
}

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
function toMessages(
  { role, content: said }: Pick<Message, 'role' | 'content'>,
  loc: Loc,
  warnings: string[],
): ChatMessage[] {
  if (said === undefined) return [];
  if (role === 'system') return toSystem(said, loc);
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
    content: content(texts) || (calls.length > 0 ? null : ''),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(thoughts.length > 0 ? { reasoning_content: thoughts.join('') } : {}),
  };
}

function toCall({ id, name, input }: Block, loc: Loc) {
  if (name === undefined) refuse([...loc, 'name'], 'A tool_use block must have a name.', null);
  return { id, type: 'function', function: { name, arguments: stringifySentJson(input ?? {}) } };
}

/**
 * Templates expect results right after the calls, and Anthropic's servers refuse text before them: they come first, as in vLLM. A turn of
 * empty blocks is none.
 */
function toTurns(role: string, parts: readonly Block[], loc: Loc): ChatMessage[] {
  const results: ChatMessage[] = [];
  const texts: { type: 'text'; text: string }[] = [];
  for (const [index, each] of parts.entries()) {
    const here = [...loc, index];
    if (each.type === 'tool_result') results.push(toResult(each, here));
    else texts.push(textBlock(each, here));
  }
  return texts.some(({ text: words }) => words !== '') ? [...results, { role, content: content(texts) }] : results;
}

/** Only blocks of this type have blocks within, so that the schema leaves them to be read here. Throws a ValidationError with their place. */
function blocksAt(loc: Loc, value: unknown): readonly Block[] {
  try {
    return parse(blocks.nullish(), value ?? null, 'body') ?? [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ValidationError(error.items.map((item) => ({ ...item, loc: [...loc, ...item.loc.slice(1)] })));
  }
}

/** Its texts are lines, as in vLLM. The error flag is passed on, because templates may read it. */
function toResult({ tool_use_id: id, content: result, is_error: isError }: Block, loc: Loc): ChatMessage {
  if (id === undefined)
    refuse([...loc, 'tool_use_id'], 'A tool_result block must have the tool_use_id of its call.', null);
  const here = [...loc, 'content'];
  const said =
    typeof result === 'string'
      ? result
      : blocksAt(here, result)
          .map((each, index) => textBlock(each, [...here, index]).text)
          .join('\n');
  return { role: 'tool', tool_call_id: id, content: said, ...(isError ? { is_error: true } : {}) };
}
