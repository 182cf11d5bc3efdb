// Items of a Responses input → messages of a conversation: turns, reasoning, calls and their results. Consecutive items of one
// assistant turn become one message, as chat templates expect.
import { z } from 'zod';
import type { ChatMessage, ToolCall } from '#domain/chat';
import { MAX_MESSAGES } from '../chat/chat-request.ts';
import { joinedName } from './namespaced-name.ts';
import { refuse, type Loc } from '#validation/parse';

const text = z.string();

/** An item of any type; toMessages() decides which are accepted. */
export const inputItem = z.looseObject({
  type: text.nullish(),
  role: text.optional(),
  status: text
    .nullish()
    .describe("Of the assistant's message at the end: in_progress or incomplete, and the answer continues it."),
  content: z.unknown().optional(),
  call_id: text.optional(),
  name: text.optional(),
  namespace: text.nullish(),
  arguments: text.optional(),
  input: text.optional(),
  output: z.unknown().optional(),
  summary: z.unknown().optional(),
});
export type Item = z.output<typeof inputItem>;

/** A turn may have several. */
export const ITEMS_MAX = 2 * MAX_MESSAGES;

/** Of the assistant, and cut off: as the last item, it is continued, as in vLLM. After reasoning, the answer begins. */
export const isUnfinished = ({ type, role, status }: Item): boolean =>
  (type === 'reasoning' || ((type ?? 'message') === 'message' && role === 'assistant')) &&
  (status === 'in_progress' || status === 'incomplete');

const ROLES = ['user', 'assistant', 'system', 'developer'];

/** `before`: how many items come from the previous conversation; the client did not send them, so errors have no location there. */
export function toMessages(input: readonly Item[], before: number, warnings: Set<string>): ChatMessage[] {
  const turns = createTurns();
  for (const [at, item] of input.entries()) {
    const loc = ['body', 'input', at - before];
    const type = item.type ?? 'message';
    if (type === 'message')
      turns.say(roleOf(item, loc), contentOf(item.content, [...loc, 'content']), isUnfinished(item));
    else if (type === 'function_call') turns.call(toCall(item, loc));
    else if (type === 'custom_tool_call') turns.call(toCustomCall(item, loc));
    else if (type === 'function_call_output' || type === 'custom_tool_call_output') turns.result(toResult(item, loc));
    else if (type === 'reasoning') turns.think(thoughtOf(item, warnings));
    else refuse([...loc, 'type'], `Items of type ${type.slice(0, 50)} are not supported.`, type);
  }
  return turns.end();
}

interface OpenTurn {
  thought: string | null;
  content: ChatMessage['content'] | null;
  isCut: boolean;
  calls: ToolCall[];
}

/**
 * Merges the items of one assistant turn, in whatever order they are: a message has one text, one piece of reasoning and all calls, as in
 * vLLM. Unlike there, reasoning that directly follows reasoning continues it: most templates write a message of reasoning alone badly. And
 * a text continues one that was cut: it is the answer to a request that ended in it.
 */
function createTurns() {
  const messages: ChatMessage[] = [];
  let open: OpenTurn | null = null;

  function close(): void {
    if (open === null) return;
    const { thought, content, calls } = open;
    open = null;
    messages.push({
      role: 'assistant',
      content: content ?? (calls.length > 0 ? null : ''),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      ...(thought === null ? {} : { reasoning_content: thought }),
    });
  }
  const assistant = () => (open ??= { thought: null, content: null, isCut: false, calls: [] });

  return {
    say(role: string, content: ChatMessage['content'], isCut: boolean): void {
      if (role !== 'assistant') {
        close();
        messages.push({ role, content });
        return;
      }
      const begun = open?.isCut && open.calls.length === 0 ? open.content : null;
      const isContinued = typeof begun === 'string' && typeof content === 'string';
      if (open && open.content !== null && !isContinued) close();
      Object.assign(assistant(), { content: isContinued ? begun + content : content, isCut });
    },
    call: (call: ToolCall): void => void assistant().calls.push(call),
    think(thought: string): void {
      if (open && open.thought !== null && (open.content !== null || open.calls.length > 0)) close();
      const turn = assistant();
      turn.thought = (turn.thought ?? '') + thought;
    },
    result(message: ChatMessage): void {
      close();
      messages.push(message);
    },
    end(): ChatMessage[] {
      close();
      return messages;
    },
  };
}

function roleOf({ role }: Item, loc: Loc): string {
  if (role !== undefined && ROLES.includes(role)) return role;
  refuse([...loc, 'role'], `The role of a message must be one of ${ROLES.join(', ')}.`, role ?? null);
}

const TEXT_FIELDS: Readonly<Record<string, 'text' | 'refusal'>> = {
  input_text: 'text',
  output_text: 'text',
  text: 'text',
  refusal: 'refusal',
};

function contentOf(content: unknown, loc: Loc): ChatMessage['content'] {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) refuse(loc, 'Content must be a text, or a list of parts.', content ?? null);
  const parts = (content as unknown[]).map((part, index) => ({ type: 'text', text: textOf(part, [...loc, index]) }));
  return parts.length === 1 ? parts[0]!.text : parts;
}

function textOf(part: unknown, loc: Loc): string {
  const { type, ...rest } = (part ?? {}) as { type?: unknown } & Record<string, unknown>;
  const field = typeof type === 'string' ? TEXT_FIELDS[type] : undefined;
  const text = field === undefined ? undefined : rest[field];
  if (typeof text === 'string') return text;
  refuse(
    [...loc, 'type'],
    `Parts of type ${String(type).slice(0, 50)} are not supported: models here read text only.`,
    part,
  );
}

/** The model reads the name under which a function of a namespace is offered to it. */
function toCall({ call_id: id, name, namespace, arguments: text }: Item, loc: Loc): ToolCall {
  if (name === undefined) refuse([...loc, 'name'], 'A function_call must have a name.', null);
  const known = namespace ? joinedName({ namespace, name }) : name;
  return { id, type: 'function', function: { name: known, arguments: text ?? '' } };
}

/** A call with free text, of another server: templates see a function with one argument, as in chat. */
const toCustomCall = ({ input, ...item }: Item, loc: Loc): ToolCall =>
  toCall({ ...item, arguments: JSON.stringify({ input: input ?? '' }) }, loc);

function toResult({ call_id: id, output }: Item, loc: Loc): ChatMessage {
  if (id === undefined) refuse([...loc, 'call_id'], 'The output of a call must have the call_id of its call.', null);
  return { role: 'tool', tool_call_id: id, content: contentOf(output, [...loc, 'output']) };
}

/** Reasoning of our own answers, or the summary of another server's; content encrypted by other servers cannot be read. */
function thoughtOf({ content, summary, ...rest }: Item, warnings: Set<string>): string {
  const own = textsOf(content);
  const texts = own.length > 0 ? own : textsOf(summary);
  if (texts.length === 0 && rest['encrypted_content'])
    warnings.add('reasoning.encrypted_content of another server cannot be read: it was not used.');
  return texts.join('\n');
}

const textsOf = (parts: unknown): string[] =>
  (Array.isArray(parts) ? (parts as unknown[]) : [])
    .map((part) => (part as { text?: unknown } | null)?.text)
    .filter((text) => typeof text === 'string');

/** Only the reasoning after the last message of the user is kept. */
export function withoutEarlierThoughts(messages: readonly ChatMessage[]): ChatMessage[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, index) => {
    if (index > last || message['reasoning_content'] === undefined) return message;
    const { reasoning_content: _dropped, ...rest } = message;
    return rest;
  });
}
