// Rows of SFT jobs: lines → domain. The forms that data sets have: OpenAI's messages, TRL's prompt and completion or text, ShareGPT's
// conversations, and trajectories. Every field is used, refused, or reported as unused.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import type { ReadSftRow } from '#domain/sft';
import { parse } from '#validation/parse';
import { readLine } from './read-line.ts';
import { contextOf, leftOver, leftOverShared, problemOfUnwanted, readAs, rowFields } from './row-fields.ts';
import { isAnswered, problemOfPrompt, readMoved, readOpened, rowMessages, type RowMessages } from './row-messages.ts';
import { withoutNulls } from './without-nulls.ts';

type Values = Readonly<Record<string, unknown>>;

export const readSftLine = (text: string): ReadSftRow =>
  readLine(text, (value) =>
    isPreference(value)
      ? { problem: 'is a preference pair, not a conversation: send it to a DPO job (dpo-training-jobs)' }
      : readSftRow(value),
  );

/** Whether a row is a pair rather than a conversation, valid or not. Axolotl's pairs have the prompt in `messages`. */
export const isPreference = (value: unknown): boolean =>
  isObject(value) &&
  ('chosen' in value || 'preferred_output' in value) &&
  !('messages' in value && isAnswered(value['messages']));

/** By the form that the row is meant to have, so that only its errors are reported. Throws ValidationError. */
export function readSftRow(value: unknown): ReadSftRow {
  if (!isObject(value)) return readMessages(value, []);
  const asked = ['messages', 'conversations', 'conversation', 'messages_and_choices'].find((field) => field in value);
  const isLearnt = asked !== undefined || ('prompt' in value && 'completion' in value);
  const unwanted = problemOfUnwanted(value, isLearnt);
  if (unwanted !== null) return { problem: unwanted };
  if (asked === 'messages_and_choices') return readTrajectory(value);
  if (asked !== undefined) return readSpoken(value, asked);
  if (isLearnt) return readOpened(value, ['prompt'], readCompletion);
  if ('text' in value) return readText(value);
  const unread = ['segments', 'instruction', 'contents'].find((field) => field in value);
  const found =
    unread === undefined
      ? 'has none of the fields messages, conversations, prompt with completion, and text'
      : `has ${unread}, a form that is not read`;
  return {
    problem: `${found}: write messages, [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]`,
  };
}

const conversation = z.looseObject({ messages: rowMessages, ...rowFields });

function readMessages(value: unknown, known: readonly string[]): ReadSftRow {
  const row = parse(conversation, value, 'body');
  return checked(row.messages, row, leftOver(value as Values, ...known));
}

/** Choices count as messages. */
function readTrajectory(value: Values): ReadSftRow {
  const turns = value['messages_and_choices'];
  const messages = Array.isArray(turns) ? turns.map(messageOfTurn) : turns;
  const { messages_and_choices: _, ...rest } = value;
  return readMessages({ ...rest, messages }, ['messages']);
}

function messageOfTurn(sent: unknown): unknown {
  const turn = isObject(sent) ? withoutNulls(sent) : null;
  if (turn === null || !isObject(turn['message']) || 'role' in turn) return sent;
  return { role: 'assistant', ...withoutNulls(turn['message']) };
}

const readSpoken = (value: Values, field: string): ReadSftRow =>
  readMoved(value, field, 'messages', (moved) => readMessages(moved, ['messages']));

const completions = z.looseObject({ prompt: rowMessages, completion: rowMessages, ...rowFields });
const texts = z.looseObject({ prompt: z.string(), completion: z.string() });

function readCompletion(value: Values, opened: number): ReadSftRow {
  const areTexts = [value['prompt'], value['completion']].map((part) => typeof part === 'string');
  if (areTexts[0] !== areTexts[1])
    return { problem: 'prompt and completion must both be texts, or both lists of messages' };
  if (areTexts[0]) {
    const { prompt, completion } = parse(texts, value, 'body');
    if (completion === '') return { problem: 'completion is empty: there is nothing to learn' };
    return readAs({ prompt, completion }, leftOverShared(value, 'prompt', 'completion'));
  }
  const row = parse(completions, value, 'body');
  const { prompt, completion } = row;
  if (completion.messages[0]!.role !== 'assistant')
    return {
      problem: `completion begins with a message of the role ${completion.messages[0]!.role}, but it must begin with an assistant message: move the messages before it to prompt`,
    };
  const problem = problemOfPrompt(prompt, 'prompt', opened);
  if (problem !== null) return { problem };
  const before = prompt.messages.length;
  const context = prompt.messages.flatMap(({ role }, place) => (role === 'assistant' ? [place] : []));
  const whole = {
    messages: [...prompt.messages, ...completion.messages],
    untrained: [...context, ...completion.untrained.map((place) => place + before)],
    wanted: [],
    unused: [...prompt.unused, ...completion.unused],
  };
  const read = checked(whole, row, leftOver(value, 'prompt', 'completion'));
  return 'row' in read ? { ...read, row: { ...read.row, followsPrompt: true } } : read;
}

function readText(value: Values): ReadSftRow {
  const { text } = parse(z.looseObject({ text: z.string() }), value, 'body');
  if (text === '') return { problem: 'text is empty: there is nothing to learn' };
  return readAs({ prompt: '', completion: text }, leftOverShared(value, 'text'));
}

function checked(
  { messages, untrained, unused: ofMessages }: RowMessages,
  row: z.output<z.ZodObject<typeof rowFields>>,
  ofRow: ReturnType<typeof leftOver>,
): ReadSftRow {
  const last = messages.at(-1)!.role;
  if (last !== 'assistant')
    return { problem: `the last message must have the role assistant, because it is what is learnt, not ${last}` };
  const context = contextOf(row);
  if ('problem' in context) return context as { problem: string };
  return readAs({ messages, ...context, ...(untrained.length > 0 ? { untrained } : {}) }, [
    ...ofRow,
    ...new Map(ofMessages.map((each) => [each.field, each])).values(),
  ]);
}
