// Rows of DPO jobs: lines → domain. A row is a preference pair: in one of TRL's formats (conversations or plain text, with a prompt of
// its own or as the shared beginning of both answers), in ShareGPT's, or in OpenAI's. Every field is used, refused, or reported as unused.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isObject } from '#base/is-object';
import type { ReadPreferencePair } from '#domain/dpo';
import type { UnusedField } from '#domain/sft';
import { parse } from '#validation/parse';
import { readLine } from './read-line.ts';
import { contextOf, leftOver, leftOverShared, problemOfUnwanted, readAs, rowFields } from './row-fields.ts';
import { isAnswered, problemOfPrompt, readMoved, readOpened, rowMessages, type RowMessages } from './row-messages.ts';

type Values = Readonly<Record<string, unknown>>;

/** An answer may be one message, or its text, after a prompt of messages. */
const answer = z.preprocess((sent) => {
  if (typeof sent === 'string') return [{ role: 'assistant', content: sent }];
  return isObject(sent) ? [sent] : sent;
}, rowMessages);

const explicit = z.looseObject({ prompt: rowMessages, chosen: answer, rejected: answer, ...rowFields });
const implicit = z.looseObject({
  prompt: z.string().nullish(),
  chosen: rowMessages,
  rejected: rowMessages,
  ...rowFields,
});
const texts = z.looseObject({ prompt: z.string().nullish(), chosen: z.string(), rejected: z.string() });
const openai = z.looseObject({
  input: z.looseObject({ messages: rowMessages, ...rowFields }),
  preferred_output: rowMessages,
  non_preferred_output: rowMessages,
});

export const readPreferencePair = (text: string): ReadPreferencePair => readLine(text, readPair);

/** By the form that the row is meant to have, so that only its errors are reported. Throws ValidationError. */
export function readPair(value: unknown): ReadPreferencePair {
  if (!isObject(value)) return readExplicit(value as Values, 0);
  const unwanted = problemOfUnwanted(value, false);
  if (unwanted !== null) return { problem: unwanted };
  if (isObject(value['input']) || 'preferred_output' in value) return readOpenai(value);
  // The shared beginning of the answers would be taken for the prompt.
  const question = ['instruction', 'question', 'query'].find((field) => field in value);
  if (question !== undefined && !['prompt', 'conversations', 'messages'].some((field) => field in value))
    return { problem: `has ${question}, a form that is not read: write the question as prompt` };
  const asked = ['prompt', 'conversations', 'messages'].find((field) => field in value);
  if (asked !== undefined && Array.isArray(value[asked]) && !(asked === 'messages' && isAnswered(value[asked])))
    return readMoved(value, asked, 'prompt', (moved, before) => readExplicit(moved, before, asked));
  if (!('chosen' in value) || (value['prompt'] && typeof value['prompt'] !== 'string')) return readExplicit(value, 0);
  return typeof value['chosen'] === 'string' ? readTexts(value) : readOpened(value, ANSWERS, readImplicit);
}

const ANSWERS = ['chosen', 'rejected'] as const;

/** `before`: messages that were put before the prompt, which stands under `field`. */
function readExplicit(value: Values, before: number, field = 'prompt'): ReadPreferencePair {
  const row = parse(explicit, value, 'body');
  const problem = problemOfPrompt(row.prompt, field, before);
  return problem === null ? checked(row, row, leftOver(value, 'prompt', ...ANSWERS)) : { problem };
}

function readOpenai(value: Values): ReadPreferencePair {
  const { input, preferred_output: chosen, non_preferred_output: rejected } = parse(openai, value, 'body');
  const unused = [
    ...leftOverShared(value, 'input', 'preferred_output', 'non_preferred_output'),
    ...leftOver(value['input'] as Values, 'messages').map(({ field }) => ({
      of: 'row' as const,
      field: `input.${field}`,
    })),
  ];
  const problem = problemOfPrompt(input.messages, 'input.messages', 0);
  return problem === null ? checked({ prompt: input.messages, chosen, rejected }, input, unused) : { problem };
}

/** No prompt, or its text in addition to whole conversations, as many data sets have it. */
function readImplicit(value: Values, before: number): ReadPreferencePair {
  const row = parse(implicit, value, 'body');
  const { prompt: text } = row;
  const { shared, chosen, rejected } = sharedBeginning(row.chosen, row.rejected);
  for (const name of ANSWERS) {
    const asked = row[name].wanted.filter((place) => place < shared.messages.length);
    const problem = problemOfPrompt({ ...row[name], wanted: asked }, name, before);
    if (problem !== null) return { problem };
  }
  const isSaid = shared.messages.some(({ content }) => content === text);
  if (typeof text === 'string' && text !== '' && !isSaid) {
    return {
      problem: `prompt is a text that is not in the messages: send it as messages, [{"role": "user", "content": "…"}]`,
    };
  }
  if (shared.messages.length === 0) {
    return {
      problem: 'chosen and rejected do not begin with the same message, and there is no prompt: send its messages',
    };
  }
  return checked({ prompt: shared, chosen, rejected }, row, leftOver(value, 'prompt', ...ANSWERS));
}

/** The shared prefix of both conversations; it leaves at least one message to each answer. */
function sharedBeginning(chosen: RowMessages, rejected: RowMessages) {
  const most = Math.min(chosen.messages.length, rejected.messages.length) - 1;
  let at = 0;
  while (at < most && isDeepStrictEqual(chosen.messages[at], rejected.messages[at])) at++;
  const after = ({ messages, untrained, unused }: RowMessages): RowMessages => ({
    messages: messages.slice(at),
    untrained: untrained.filter((place) => place >= at).map((place) => place - at),
    wanted: [],
    unused,
  });
  const shared: RowMessages = { messages: chosen.messages.slice(0, at), untrained: [], wanted: [], unused: [] };
  return { shared, chosen: after(chosen), rejected: after(rejected) };
}

/** Without a prompt, it is what both begin with. */
function readTexts(value: Values): ReadPreferencePair {
  const { prompt: given, chosen, rejected } = parse(texts, value, 'body');
  if (chosen === rejected) return SAME;
  const at = typeof given === 'string' ? 0 : endOfShared(chosen, rejected);
  const prompt = given ?? chosen.slice(0, at);
  if (prompt === '' && typeof given !== 'string')
    return { problem: 'chosen and rejected begin differently, and there is no prompt: send it' };
  const pair = { prompt, chosen: chosen.slice(at), rejected: rejected.slice(at) };
  return readAs(pair, leftOverShared(value, 'prompt', ...ANSWERS));
}

/** As in TRL: the space before the answers belongs to them, and each has at least one character. */
function endOfShared(chosen: string, rejected: string): number {
  const most = Math.min(chosen.length, rejected.length) - 1;
  let at = 0;
  while (at < most && chosen[at] === rejected[at]) at++;
  if (/[\uD800-\uDBFF]/.test(chosen[at - 1] ?? '')) at--; // one character of Python's
  return at > 0 && chosen[at - 1] === ' ' && chosen[at] !== rejected[at] ? at - 1 : at;
}

const SAME = { problem: 'chosen and rejected are the same: nothing is preferred' };

function checked(
  pair: { readonly prompt: RowMessages; readonly chosen: RowMessages; readonly rejected: RowMessages },
  row: z.output<z.ZodObject<typeof rowFields>>,
  ofRow: readonly UnusedField[],
): ReadPreferencePair {
  const context = contextOf(row);
  if ('problem' in context) return context as { problem: string };
  for (const problem of ANSWERS.map((name) => problemOfAnswer(name, pair[name])))
    if (problem !== null) return { problem };
  const [prompt, chosen, rejected] = [pair.prompt, pair.chosen, pair.rejected].map(({ messages }) => messages);
  if (isDeepStrictEqual(chosen, rejected)) return SAME;
  const ofMessages = [pair.prompt, pair.chosen, pair.rejected].flatMap(({ unused }) => unused);
  const unused = [...ofRow, ...new Map(ofMessages.map((each) => [each.field, each])).values()];
  return readAs({ prompt: prompt!, chosen: chosen!, rejected: rejected!, ...context }, unused);
}

function problemOfAnswer(name: string, { messages, untrained }: RowMessages): string | null {
  const [first, last] = [messages[0]!.role, messages.at(-1)!.role];
  if (first !== 'assistant')
    return `${name} begins with a message of the role ${first}, but an answer must begin with an assistant message: move the messages before it to prompt`;
  if (last !== 'assistant')
    return `${name} ends with a message of the role ${last}, but the last message must be the assistant's`;
  // Both answers are compared as a whole: there is no pair without one of its turns.
  if (untrained.length > 0)
    return `${name}.${untrained[0]}: has weight 0 or train false, but all turns of an answer are compared: move it to prompt`;
  return null;
}
