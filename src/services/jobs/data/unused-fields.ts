// Names what a job does not use of data rows, for its first event: fields, and what the chat template leaves out. Whether the template uses
// a field of a message is asked of the template itself: without the field it would write the same text.
import { isDeepStrictEqual } from 'node:util';
import { counted } from '#base/counted';
import { createFieldCounts } from '#base/field-counts';
import type { ChatMessage } from '#domain/chat';
import type { PreferencePair } from '#domain/dpo';
import type { SftRow, UnusedField } from '#domain/sft';
import type { ConversationEncoder } from '#training/conversation-encoder';
import { createLeftOut } from './left-out.ts';
import { conversationsOf, renderedWith } from './row-renderings.ts';

/** Reasoning reaches the template under each of these names. */
const REASONING = ['reasoning', 'reasoning_content', 'thinking'];
/** Roles and fields whose use is remembered. */
const KNOWN_MAX = 1_000;
/** A field that the template has not used in so many rows is not used in the others. */
const ASKED_MAX = 20;
/** Nor in the other messages of a row: each is asked about with the conversation before it, so the work grows with the square of their number. */
const MESSAGES_ASKED_MAX = 8;

interface ReadRow {
  readonly row: SftRow | PreferencePair;
  readonly unused?: readonly UnusedField[];
}

export function createUnusedFields(encoder: Pick<ConversationEncoder, 'renderClosed'>) {
  const leftOut = createLeftOut(encoder);
  const fields = createFieldCounts('row');
  let pairs = 0;
  const isRead = createReadFields(encoder);
  return {
    note({ row, unused = [] }: ReadRow): void {
      leftOut.note(row);
      if (!('chosen' in row) && unused.some(({ of, field }) => of === 'row' && ANSWERS.includes(field))) pairs++;
      for (const { of, field } of unused) {
        const name = of === 'row' ? field : `messages[].${field}`;
        if (fields.takes(name) && (of === 'row' || !isRead(field, row))) fields.add(name);
      }
    },
    warnings(): string[] {
      const named = fields.words();
      const unused = named === null ? [] : [`Fields of the training data that are not used: ${named}.`];
      return [...unused, ...(pairs > 0 ? [pairsBeside(pairs)] : []), ...leftOut.warnings()];
    },
  };
}

const ANSWERS = ['chosen', 'rejected', 'preferred_output', 'non_preferred_output'];

const pairsBeside = (count: number): string =>
  `Preference pairs stand beside the messages of ${counted(count, 'row')}: SFT trains the messages alone, and a DPO job the pairs (data check --dpo).`;

/** Whether the template uses the field in the row, of each role that has it there. */
function createReadFields(encoder: Pick<ConversationEncoder, 'renderClosed'>) {
  /** A role and a field → in how many rows it was not used; null: the template uses it. */
  const known = new Map<string, number | null>();

  function isReadOf(role: string, field: string, row: SftRow | PreferencePair): boolean {
    const key = JSON.stringify([role, field]);
    const misses = known.get(key);
    if (misses === null) return true;
    if (misses !== undefined && misses >= ASKED_MAX) return false;
    const compared: boolean[] = [];
    for (const { messages, place, bare } of messagesWith(row, role, field)) {
      const [one, other] = [messages[place]!, bare].map((each) => renderedWith(row, messages, place, each, encoder));
      if (one!.length > 0 || other!.length > 0) compared.push(!isDeepStrictEqual(one, other));
      if (compared.at(-1) === true) break;
    }
    if (compared.length === 0) return true; // the template refuses the row, which is reported
    const isUsed = compared.includes(true);
    if (known.size < KNOWN_MAX) known.set(key, isUsed ? null : (misses ?? 0) + 1);
    return isUsed;
  }

  return (field: string, row: SftRow | PreferencePair): boolean => {
    const having = conversationsOf(row)
      .flat()
      .filter((message) => without(message, field) !== message);
    return (
      having.length > 0 && [...new Set(having.map(({ role }) => role))].every((role) => isReadOf(role, field, row))
    );
  };
}

/** The first messages of the role that have the field, and what each is without it. */
function messagesWith(row: SftRow | PreferencePair, role: string, field: string) {
  const found = conversationsOf(row).flatMap((messages) =>
    messages.flatMap((message, place) => {
      const bare = message.role === role ? without(message, field) : message;
      return bare === message ? [] : { messages, place, bare };
    }),
  );
  return found.slice(0, MESSAGES_ASKED_MAX);
}

const OF_FUNCTION = 'tool_calls.function.';
const OF_CALL = 'tool_calls.';

/** The message itself if it has no such field. */
function without(message: ChatMessage, field: string): ChatMessage {
  if (field === 'content.thinking' || REASONING.includes(field)) return withoutKeys(message, REASONING);
  if (Object.hasOwn(message, field)) return withoutKeys(message, [field]);
  const calls = message.tool_calls;
  if (!calls || !field.startsWith(OF_CALL)) return message;
  const fewer = calls.map((call) => {
    if (!field.startsWith(OF_FUNCTION)) return withoutKeys(call, [field.slice(OF_CALL.length)]);
    const called = withoutKeys(call.function, [field.slice(OF_FUNCTION.length)]);
    return called === call.function ? call : { ...call, function: called };
  });
  return fewer.every((call, i) => call === calls[i]) ? message : { ...message, tool_calls: fewer };
}

const withoutKeys = <T extends object>(value: T, keys: readonly string[]): T =>
  keys.some((key) => Object.hasOwn(value, key))
    ? (Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) as T)
    : value;
