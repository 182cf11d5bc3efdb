// Converts messages as clients send them into messages as chat templates expect them. Only text models are served: other content parts are
// refused.
import { createHash } from 'node:crypto';
import { isObject } from '#base/is-object';
import type { ChatMessage, ToolCall, ToolDefinition } from '#domain/chat';
import { AppError } from '#domain/errors';
import { parsePythonJson, pythonEntries, PythonFloat, pythonItems, pythonJson } from './python-json.ts';
import type { TemplateTraits } from './template-traits.ts';
import type { UnreadArguments } from './unread-arguments.ts';

const PLAIN_JSON = { indent: null, separators: null, ensureAscii: false } as const;

export type TemplateMessage = Record<string, unknown>;

export function templateMessages(
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
  traits: TemplateTraits,
  unread: UnreadArguments,
): TemplateMessage[] {
  const written = messages.map((message, index) => templateMessage(message, index, traits, unread));
  const renamed = messages.some(({ role }) => role === 'developer') && !traits.knowsDeveloper;
  const turns = renamed ? withOneSystem(written, traits) : written;
  return traits.toolsInMessage && tools.length > 0 ? withTools(turns, tools) : turns;
}

/**
 * Developer messages that became system messages may stand anywhere, but templates that do not know them often know one system message
 * only, the first of all: the texts of all of them become that message, as in vLLM.
 */
function withOneSystem(turns: TemplateMessage[], traits: TemplateTraits): TemplateMessage[] {
  const isSystem = ({ role }: TemplateMessage) => role === 'system';
  if (!turns.slice(1).some(isSystem)) return turns;
  const texts = turns.filter(isSystem).map(({ content }) => joined(content as string | readonly TextPart[]));
  const text = texts.filter((each) => each !== '').join('\n\n');
  const content = traits.content === 'parts' ? [textPart(text)] : text;
  return [{ role: 'system', content }, ...turns.filter((turn) => !isSystem(turn))];
}

interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

const textPart = (text: string): TextPart => ({ type: 'text', text });
const joined = (content: string | readonly TextPart[]): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text).join('\n');

/** The system message with tools as Phi-4-mini has it. Tools that a client wrote there itself stay. */
function withTools(turns: readonly TemplateMessage[], tools: readonly ToolDefinition[]): TemplateMessage[] {
  const at = turns.findIndex(({ role }) => role === 'system');
  const system = turns[at] ?? { role: 'system', content: '' };
  const functions = asMaps(tools.map((tool) => tool.function));
  const merged = { tools: pythonJson(functions, PLAIN_JSON), ...system };
  return at < 0 ? [merged, ...turns] : turns.with(at, merged);
}

/** As pythonJson writes dicts. */
function asMaps(value: unknown): unknown {
  if (Array.isArray(value)) return pythonItems(value).map(asMaps);
  if (!isObject(value) || value instanceof PythonFloat) return value;
  return new Map(pythonEntries(value).map(([key, item]) => [key, asMaps(item)]));
}

function templateMessage(
  message: ChatMessage,
  index: number,
  traits: TemplateTraits,
  unread: UnreadArguments,
): TemplateMessage {
  const { role, content: _content, tool_calls: toolCalls, ...rest } = message;
  const hasCalls = toolCalls !== undefined && toolCalls !== null && toolCalls.length > 0;
  const result: TemplateMessage = {
    role: templateRole(role, traits),
    content: templateContent(message, index, traits),
  };
  // A key with null would be "defined" to a template; for a client it means the same as a missing key.
  for (const [key, value] of Object.entries(rest)) if (value !== undefined && value !== null) result[key] = value;
  const reasoning = message.reasoning ?? message.reasoning_content;
  if (reasoning !== undefined && reasoning !== null) {
    Object.assign(result, { reasoning, reasoning_content: reasoning });
    // Templates that read this field refuse it beside content in a message with calls, where they use either as reasoning.
    const isBeside = hasCalls && result.content !== '' && traits.content === 'string';
    if (traits.readsThinking && !isBeside && reasoning !== '') result.thinking ??= reasoning;
  }
  if (traits.callIds === 'nine' && typeof result.tool_call_id === 'string')
    result.tool_call_id = shortCallId(result.tool_call_id);
  // Templates ask `if message.tool_calls is defined`: an empty list would take them off the plain path.
  if (hasCalls) result.tool_calls = toolCalls.map((call) => templateToolCall(call, traits, unread));
  return result;
}

/** The usual role name, for templates that do not know this one. */
function templateRole(role: string, { knowsDeveloper, knowsFunction }: TemplateTraits): string {
  if (role === 'developer' && !knowsDeveloper) return 'system';
  return role === 'function' && !knowsFunction ? 'tool' : role;
}

/** Templates that take both forms know text alone as the result of a tool. Empty parts leave no line in a text. As in vLLM. */
function templateContent({ role, content }: ChatMessage, index: number, traits: TemplateTraits): unknown {
  const wantsParts = traits.content === 'parts';
  if (content === null || content === undefined) return wantsParts ? [] : '';
  if (typeof content === 'string') return wantsParts ? [textPart(content)] : content;
  const texts = content.map((part: unknown, at) => textOfPart(part, `messages[${index}].content[${at}]`));
  if (traits.content === 'string') return texts.filter((text) => text !== '').join('\n');
  return traits.content === 'either' && role === 'tool' ? texts.join('\n') : texts.map(textPart);
}

/** Part type → the field that contains its text. */
const TEXT_FIELDS: Readonly<Record<string, string>> = {
  text: 'text',
  input_text: 'text',
  output_text: 'text',
  refusal: 'refusal',
  thinking: 'thinking',
};

function textOfPart(part: unknown, where: string): string {
  if (typeof part === 'string') return part;
  const type = isObject(part) ? part.type : undefined;
  const field = typeof type === 'string' && Object.hasOwn(TEXT_FIELDS, type) ? TEXT_FIELDS[type]! : null;
  const text = isObject(part) && field !== null ? part[field] : undefined;
  if (typeof text === 'string') return text;
  const found = field === null ? `type ${JSON.stringify(type)}` : `no ${field}`;
  throw new AppError('invalid_request', `${where} has ${found}: this model reads text parts only.`, {
    param: 'messages',
  });
}

function templateToolCall(
  call: ToolCall,
  { toolArguments, callIds }: TemplateTraits,
  unread: UnreadArguments,
): Record<string, unknown> {
  const { arguments: text } = call.function;
  const id = callIds === 'nine' && call.id !== undefined ? { id: shortCallId(call.id) } : {};
  return {
    ...call,
    ...id,
    function: { ...call.function, arguments: toolArguments === 'text' ? text || '{}' : readArguments(text, unread) },
  };
}

/** Templates expect an object: JSON of another kind is as unreadable to them as none. */
function readArguments(text: unknown, unread: UnreadArguments): unknown {
  if (text === undefined || text === null || text === '') return {};
  if (typeof text !== 'string') return text;
  try {
    const value = parsePythonJson(text);
    return value instanceof Map ? value : unread.take(text);
  } catch {
    return unread.take(text);
  }
}

/** Conversations contain ids from other models. The same id gives the same nine characters. */
const shortCallId = (id: string): string =>
  /^[A-Za-z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9);
