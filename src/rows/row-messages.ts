// Messages of data rows, in each form that data sets have: OpenAI's, TRL's and Transformers' (results of tools without ids, arguments as
// objects), ShareGPT's and Axolotl's (from and value, train). Becomes the form of a chat request, and which messages are trained.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { PYTHON_SEPARATORS, stringifySentJson } from '#base/sent-json';
import type { ChatMessage } from '#domain/chat';
import type { UnusedField } from '#domain/sft';
import { messageOf } from './message.ts';
import { ValidationError } from '#validation/parse';
import { parseJson } from '#validation/json-text';

export interface RowMessages {
  readonly messages: readonly ChatMessage[];
  /** Places of assistant messages that are context. */
  readonly untrained: readonly number[];
  /** Places of assistant messages that say that they are trained. */
  readonly wanted: readonly number[];
  readonly unused: readonly UnusedField[];
}

/**
 * A row may have its system message beside the conversation, as in ShareGPT's and Axolotl's: the row with `turns` after that message
 * under `field`. A system that is no text, or that the conversation has one in place of, stays where it is, and is reported as unused.
 */
function withSystem(
  row: Readonly<Record<string, unknown>>,
  field: string,
  turns: unknown,
): Readonly<Record<string, unknown>> {
  const { system, ...rest } = row;
  if (typeof system !== 'string' || beginsWithSystem(turns)) return { ...row, [field]: turns };
  const opening = system === '' ? [] : [{ role: 'system', content: system }];
  return { ...rest, [field]: Array.isArray(turns) ? [...opening, ...(turns as unknown[])] : turns };
}

/** Whether a conversation, valid or not, ends with an answer. */
export function isAnswered(turns: unknown): boolean {
  const last: unknown = Array.isArray(turns) ? turns.at(-1) : null;
  return isObject(last) && last['role'] === 'assistant';
}

function beginsWithSystem(turns: unknown): boolean {
  const first: unknown = Array.isArray(turns) ? turns[0] : null;
  return isObject(first) && ['system', 'developer'].includes(String(first['role'] ?? first['from']));
}

/**
 * What `read` makes of a row whose conversation was moved from the field `from` to `to`, behind its system message. Errors name the places
 * of the row as it was written.
 */
export function readMoved<Read>(
  row: Readonly<Record<string, unknown>>,
  from: string,
  to: string,
  read: (moved: object) => Read,
): Read {
  const { [from]: turns, ...rest } = row;
  const moved = withSystem(rest, to, turns);
  const before = Array.isArray(turns) ? (moved[to] as unknown[]).length - turns.length : 0;
  try {
    return read(moved);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ValidationError(
      error.items.map((item) => {
        const [source, field, ...place] = item.loc;
        if (field !== to) return item;
        return { ...item, loc: [source!, from, ...place.map((each, i) => (i === 0 ? Number(each) - before : each))] };
      }),
    );
  }
}

/** Who speaks, in ShareGPT's words and those of its descendants. */
const SPEAKERS: Readonly<Record<string, string>> = {
  human: 'user',
  user: 'user',
  gpt: 'assistant',
  assistant: 'assistant',
  chatgpt: 'assistant',
  bing: 'assistant',
  bard: 'assistant',
  model: 'assistant',
  system: 'system',
  tool: 'tool',
  observation: 'tool',
  function_response: 'tool',
  function_call: 'assistant',
};

/** Fields that reach every chat template; the others reach those that read them. */
const USED = new Set(['role', 'content', 'tool_calls', 'tool_call_id']);

type Refuse = (path: (string | number)[], message: string) => void;

export const rowMessages = z
  .array(z.unknown())
  .min(1)
  .transform((sent, ctx): RowMessages => {
    const refuse: Refuse = (path, message) => ctx.addIssue({ code: 'custom', path, message });
    const messages: ChatMessage[] = [];
    const untrained: number[] = [];
    const wanted: number[] = [];
    const unused = new Map<string, UnusedField>();
    for (const [place, each] of sent.entries()) {
      const { weight, train, training, ...plain } = isObject(each)
        ? inChatForm(each, (path, why) => refuse([place, ...path], why))
        : { each };
      const read = rowMessage.safeParse(isObject(each) ? plain : each);
      if (!read.success) {
        for (const issue of read.error.issues) ctx.addIssue({ ...issue, path: [place, ...issue.path] });
        continue;
      }
      if (saysNothing(read.data))
        refuse([place, 'content'], 'is missing, and there is no call or reasoning in its place');
      const { refusal } = plain as Record<string, unknown>;
      if (refusal && read.data.content !== refusal) unused.set('refusal', { of: 'message', field: 'refusal' });
      messages.push(withReasoning(read.data));
      const asked = askedFor(read.data.role, { weight, train, training }, (path, why) => refuse([place, ...path], why));
      if (asked === 'untrained') untrained.push(place);
      if (asked === 'trained') wanted.push(place);
      for (const field of [...partFields(read.data.content), ...callFields(read.data)])
        unused.set(field, { of: 'message', field });
      for (const [field, value] of Object.entries(read.data))
        if (!USED.has(field) && value !== undefined && value !== null) unused.set(field, { of: 'message', field });
    }
    return { messages, untrained, wanted, unused: [...unused.values()] };
  });

const rowMessage = messageOf('rows');

/** An answer of a row is what is learnt: its text may be empty, but not under another name. */
const saysNothing = ({ role, content, tool_calls: calls, ...message }: ChatMessage): boolean =>
  role === 'assistant' &&
  (content ?? calls ?? message.reasoning_content ?? message.thinking ?? message.reasoning ?? null) === null;

/** Under each name that templates read, empty reasoning too, as in Transformers. */
function withReasoning(message: ChatMessage): ChatMessage {
  const { reasoning_content: own, thinking, reasoning: other } = message;
  const reasoning = own ?? thinking ?? other ?? null;
  return reasoning === null
    ? message
    : { ...message, reasoning, reasoning_content: reasoning, thinking: thinking ?? reasoning };
}

/** Fields of text parts beside the text: no template writes them, and a turn is trained as a whole. Other parts are refused later. */
const partFields = (content: ChatMessage['content']): string[] =>
  Array.isArray(content)
    ? content.flatMap((part: object) =>
        Object.keys('text' in part ? part : {})
          .filter((key) => !OF_PARTS.has(key))
          .map((key) => `content.${key}`),
      )
    : [];

const OF_PARTS = new Set(['type', 'text', 'thinking', 'refusal']);

/** Fields of calls beside the function: no template writes them. `index` is of a streamed call. */
const callFields = ({ tool_calls: calls }: ChatMessage): string[] =>
  (calls ?? []).flatMap((call) =>
    Object.keys(call)
      .filter((key) => !OF_CALLS.has(key))
      .map((key) => `tool_calls.${key}`),
  );

const OF_CALLS = new Set(['id', 'type', 'function', 'index']);

/** `weight` is OpenAI's, `train` and `training` are Axolotl's. Only what the assistant says is trained, so that other roles may only say no. */
function askedFor(
  role: string,
  fields: Readonly<Record<string, unknown>>,
  refuse: Refuse,
): 'trained' | 'untrained' | 'nothing' {
  const asked = new Set<'trained' | 'untrained'>();
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    if (value !== 0 && value !== 1 && typeof value !== 'boolean') {
      refuse([field], `must be ${field === 'weight' ? '0 or 1' : 'true or false'}: a turn is trained or it is context`);
    } else if (role === 'assistant') {
      asked.add(value ? 'trained' : 'untrained');
    } else if (value) {
      refuse(
        [field],
        `asks to train a message of the role ${role}, but only assistant messages are trained: leave it out`,
      );
    }
  }
  if (asked.has('untrained')) return 'untrained';
  return asked.has('trained') ? 'trained' : 'nothing';
}

/** Why a prompt cannot be context; null: it can. */
export const problemOfPrompt = ({ wanted }: RowMessages): string | null =>
  wanted.length === 0
    ? null
    : `prompt.${wanted[0]}: has weight 1 or train true, but a prompt is context and is not trained: leave it out, or write a conversation as messages`;

function inChatForm(sent: Readonly<Record<string, unknown>>, refuse: Refuse): Record<string, unknown> {
  const message: Record<string, unknown> = { ...('from' in sent && !('role' in sent) ? spoken(sent, refuse) : sent) };
  for (const field of ['train_detail', 'training_detail', 'train_on_eos'])
    if (message[field] !== undefined && message[field] !== null)
      refuse([field], 'is not supported: a turn is trained as a whole, or it is context (train)');
  const { function_call: call, tool_calls: calls } = message;
  if (Array.isArray(calls) && calls.length > 0) {
    if (call !== undefined && call !== null)
      refuse(['function_call'], 'stands beside tool_calls, which replaced it: leave one out');
    return { ...message, tool_calls: calls.map(inCallForm) };
  }
  return {
    ...message,
    ...(call === undefined || call === null ? {} : { function_call: null, tool_calls: [inCallForm(call)] }),
  };
}

/** `{"from", "value"}`. A function call is the JSON text of one call or of a list. */
function spoken({ from, value, ...rest }: Readonly<Record<string, unknown>>, refuse: Refuse): Record<string, unknown> {
  const role = typeof from === 'string' && Object.hasOwn(SPEAKERS, from) ? SPEAKERS[from]! : null;
  if (role === null)
    refuse(['from'], `is ${JSON.stringify(from)}, and must be one of ${Object.keys(SPEAKERS).join(', ')}`);
  if (from !== 'function_call') return { ...rest, role: role ?? 'user', content: value };
  const calls = callsIn(value);
  if (!calls)
    refuse(['value'], 'must be the JSON text of a call, {"name": "…", "arguments": {…}}, or of a list of calls');
  return { ...rest, role, content: '', tool_calls: calls ?? [] };
}

function callsIn(value: unknown): unknown[] | null {
  if (typeof value !== 'string') return null;
  try {
    const read = parseJson(value);
    const calls: unknown[] = Array.isArray(read) ? read : [read];
    return calls.every((call) => isObject(call) && typeof call['name'] === 'string') ? calls : null;
  } catch {
    return null;
  }
}

/** A call may be without `function`; its arguments may be a value, and `parameters`, as Llama writes them. */
function inCallForm(call: unknown): unknown {
  if (!isObject(call)) return call;
  const isBare = !isObject(call['function']);
  const { function: within, name, arguments: direct, parameters: asLlama, ...rest } = call;
  if (isBare && typeof name !== 'string') return call;
  const called = isBare ? { name, arguments: direct, parameters: asLlama } : (within as Record<string, unknown>);
  const { parameters, ...said } = called;
  const given = said['arguments'] ?? parameters;
  const text =
    given === undefined || given === null || typeof given === 'string'
      ? given
      : stringifySentJson(given, PYTHON_SEPARATORS);
  return { type: 'function', ...(isBare ? rest : call), function: { ...said, arguments: text } };
}
