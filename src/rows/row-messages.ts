// Messages of data rows, in each form that data sets have (chat-form.ts): which of them are trained, and which of their fields only some
// templates read, or none.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isObject } from '#base/is-object';
import type { ChatMessage } from '#domain/chat';
import type { UnusedField } from '#domain/sft';
import { list } from '#validation/lax';
import { ValidationError } from '#validation/parse';
import { inChatForm, type Refuse } from './chat-form.ts';
import { messageOf } from './message.ts';

export interface RowMessages {
  readonly messages: readonly ChatMessage[];
  /** Places of assistant messages that are context. */
  readonly untrained: readonly number[];
  /** Places of assistant messages that say that they are trained. */
  readonly wanted: readonly number[];
  readonly unused: readonly UnusedField[];
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

type Values = Readonly<Record<string, unknown>>;

/**
 * What `read` makes of a row whose `system`, a text beside its conversations, opens them, as ShareGPT's and Axolotl's does; `before` is how
 * many messages that put in front. A system that is no text, or that a conversation has one in place of, stays where it is, and is reported
 * as unused. Errors name the places of the row as it was written.
 */
export function readOpened<Read>(
  row: Values,
  fields: readonly string[],
  read: (opened: Values, before: number) => Read,
): Read {
  const { system, ...rest } = row;
  const isOpening = fields.every((field) => Array.isArray(row[field]) && !beginsWithSystem(row[field]));
  if (typeof system !== 'string' || !isOpening) return read(row, 0);
  if (system === '') return read(rest, 0);
  const opened = fields.map((field) => [field, [{ role: 'system', content: system }, ...(row[field] as unknown[])]]);
  return relocated(
    () => read({ ...rest, ...(Object.fromEntries(opened) as Values) }, 1),
    ([source, field, place, ...more]) => {
      if (!fields.includes(String(field)) || place === undefined) return null;
      return Number(place) === 0 ? [source!, 'system'] : [source!, field!, Number(place) - 1, ...more];
    },
  );
}

/** The same for a conversation that is moved from the field `from` to `to` before. */
export function readMoved<Read>(
  row: Values,
  from: string,
  to: string,
  read: (moved: Values, before: number) => Read,
): Read {
  const { [from]: turns, ...rest } = row;
  return relocated(
    () => readOpened({ ...rest, [to]: turns }, [to], read),
    ([source, field, ...more]) => (field === to ? [source!, from, ...more] : null),
  );
}

type Place = ValidationError['items'][number]['loc'];

/** Errors at other places. Null: the place stays. */
function relocated<Read>(read: () => Read, move: (place: Place) => Place | null): Read {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    throw new ValidationError(error.items.map((item) => ({ ...item, loc: move(item.loc) ?? item.loc })));
  }
}

/** Fields that reach every chat template; the others reach those that read them. */
const USED = new Set(['role', 'content', 'tool_calls', 'tool_call_id']);

/** As in a trajectory: each turn is found in the conversation up to it, so the work grows with the square of their number. */
const MESSAGES_MAX = 2_000;

export const rowMessages = list(z.unknown(), MESSAGES_MAX)
  .refine((messages) => messages.length > 0, 'List should have at least 1 item')
  .transform((sent, ctx): RowMessages => {
    const refuse: Refuse = (path, message) => ctx.addIssue({ code: 'custom', path, message });
    const messages: ChatMessage[] = [];
    const untrained: number[] = [];
    const wanted: number[] = [];
    const unused = new Map<string, UnusedField>();
    const note = (field: string) => void unused.set(field, { of: 'message', field });
    for (const [place, each] of sent.entries()) {
      const refuseHere: Refuse = (path, why) => refuse([place, ...path], why);
      const form = isObject(each) ? inChatForm(each, refuseHere) : null;
      const { weight, train, training, loss, ...plain } = form?.message ?? {};
      const read = rowMessage.safeParse(form ? plain : each);
      if (!read.success) {
        for (const issue of read.error.issues) ctx.addIssue({ ...issue, path: [place, ...issue.path] });
        continue;
      }
      const message = withReasoning(read.data, form?.thoughts ?? null, refuseHere);
      if (saysNothing(message)) refuseHere(['content'], 'is missing, and there is no call or reasoning in its place');
      const { refusal } = plain;
      if (refusal && message.content !== refusal) note('refusal');
      messages.push(message);
      const asked = askedFor(message.role, { weight, train, training, loss }, refuseHere);
      if (asked === 'untrained') untrained.push(place);
      if (asked === 'trained') wanted.push(place);
      [...(form?.unused ?? []), ...callFields(message)].forEach(note);
      if (typeof form?.thoughts === 'string') note(THOUGHTS);
      for (const [field, value] of Object.entries(read.data))
        if (!USED.has(field) && value !== undefined && value !== null && value !== '') note(field);
    }
    return { messages, untrained, wanted, unused: [...unused.values()] };
  });

const rowMessage = messageOf('rows');

/** An answer of a row is what is learnt: its text may be empty, but not under another name. */
const saysNothing = ({ role, content, tool_calls: calls, ...message }: ChatMessage): boolean =>
  role === 'assistant' &&
  (content ?? calls ?? message.reasoning_content ?? message.thinking ?? message.reasoning ?? null) === null;

/** What stands for the reasoning in parts of the content, where it is not used. */
const THOUGHTS = 'content.thinking';

/**
 * Under each name that templates read, empty reasoning too, as in Transformers. The names mean the same: two texts would lose one of them
 * with every template.
 */
function withReasoning(message: ChatMessage, thoughts: string | null, refuse: Refuse): ChatMessage {
  const { reasoning_content, thinking, reasoning } = message;
  const given = Object.entries({ reasoning_content, thinking, reasoning, [THOUGHTS]: thoughts }).filter(
    ([, text]) => text !== undefined && text !== null,
  );
  const [said, ...others] = given.filter(([, text]) => text !== '');
  const other = others.find(([, text]) => !isDeepStrictEqual(text, said?.[1]));
  if (said && other) refuse([other[0]], `is another text than ${said[0]}, and both are the reasoning: leave one out`);
  const text = (said ?? given[0])?.[1];
  return text === undefined ? message : { ...message, reasoning: text, reasoning_content: text, thinking: text };
}

/** Fields of calls beside those that have a meaning; only a template that writes a whole call reads them. `index` is of a streamed call. */
const callFields = ({ tool_calls: calls }: ChatMessage): string[] =>
  (calls ?? []).flatMap((call) => [
    ...fieldsBeside(call, OF_CALLS, 'tool_calls'),
    ...fieldsBeside(call.function, OF_FUNCTIONS, 'tool_calls.function'),
  ]);

const fieldsBeside = (value: object, known: ReadonlySet<string>, of: string): string[] =>
  Object.keys(value).flatMap((key) => (known.has(key) ? [] : `${of}.${key}`));

const OF_CALLS = new Set(['id', 'type', 'function', 'index']);
const OF_FUNCTIONS = new Set(['name', 'arguments']);

/** `weight` is OpenAI's, `train` and `training` are Axolotl's, `loss` is ms-swift's. Only what the assistant says is trained, so that other roles may only say no. */
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

/** Why a prompt, under `field` after messages that were put `before` it, cannot be context; null: it can. */
export const problemOfPrompt = ({ wanted }: RowMessages, field: string, before: number): string | null =>
  wanted.length === 0
    ? null
    : `${field}.${wanted[0]! - before}: has weight 1 or train true, but a prompt is context and is not trained: leave it out, or write a conversation as messages`;
