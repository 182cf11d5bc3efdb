// Which characters of a conversation the model should write: those of an assistant turn, from where its prompt ends through the token that
// ends generation. Found in the template's text, because every tokenizer splits there; conversation-tokens.ts turns it into tokens.
import type { ChatMessage } from '#domain/chat';
import { AppError } from '#domain/errors';
import type { ConversationEncoder, TemplateContext, TextRun } from './conversation-encoder.ts';

export interface WrittenTurn {
  /** The conversation as the template writes it, through the end of the turn. */
  readonly text: string;
  /** Where its prompt ends. */
  readonly from: number;
  /** What is trained of it, in its order; one run unless the template's `{% generation %}` blocks leave gaps. */
  readonly runs: readonly TextRun[];
  /** How generation ends there: at a token that the template wrote, at the model's own, which follows the text, or not at all. */
  readonly end: 'written' | 'appended' | 'unknown';
}

/** The token that follows the text of such a turn, in a list; empty: nothing follows it. */
export const appendedStop = ({ end }: WrittenTurn, { stopId }: Pick<ConversationEncoder, 'stopId'>): number[] =>
  end === 'appended' && stopId !== null ? [stopId] : [];

/**
 * How much of a `{% generation %}` block is trained: all of it, as in Transformers, or only what follows the prompt through the end of the
 * turn, where the prompt is context.
 */
export type BlockUse = 'whole' | 'after the prompt';

/** Throws `invalid_request` if the template refuses the conversation. Null: the template's blocks leave out the turn. */
export function findWrittenTurn(
  messages: readonly ChatMessage[],
  place: number,
  context: TemplateContext,
  encoder: ConversationEncoder,
  use: BlockUse = 'whole',
): WrittenTurn | null {
  const upTo = messages.slice(0, place + 1);
  let closed: string;
  try {
    closed = encoder.renderClosed(upTo, context);
  } catch (error) {
    const turn = error instanceof AppError ? turnBeforeOthers(messages, place, context, encoder, use) : undefined;
    if (turn === undefined) throw error;
    return turn;
  }
  const from = turnStart(closed, upTo, context, encoder);
  const { text, end } = findEnd(closed, from, messages, place, context, encoder);
  const turn: WrittenTurn = { text, from, runs: [{ from, to: text.length }], end };
  return withBlocks(turn, closed, encoder.generatedBlocks(upTo, context), use);
}

/** `closed`: the text that has the blocks. The end of a turn is trained also where its block ends before it. */
function withBlocks(
  turn: WrittenTurn,
  closed: string,
  blocks: readonly TextRun[] | null,
  use: BlockUse,
): WrittenTurn | null {
  if (blocks === null) return turn;
  const { text, from, end } = turn;
  const own = blocks.filter((block) => block.from >= from || block.to > from);
  const last = own.at(-1);
  if (!last) return null;
  const isWhole = use === 'whole';
  const to = isWhole && end === 'written' ? Math.max(text.length, last.to) : text.length;
  const runs = own.map((block) => ({
    from: Math.min(isWhole ? block.from : Math.max(block.from, from), to),
    to: block === last ? to : Math.min(block.to, to),
  }));
  return { text: to > text.length ? closed.slice(0, to) : text, from, runs, end };
}

/**
 * A turn that the template refuses as the last one (Qwen 3.5 wants a question before), in the shortest conversation that it accepts: what
 * changes with the content, from where an answer begins through the token that ends it. Undefined: there is none. Null: the template's
 * blocks leave it out.
 */
function turnBeforeOthers(
  messages: readonly ChatMessage[],
  place: number,
  context: TemplateContext,
  encoder: ConversationEncoder,
  use: BlockUse,
): WrittenTurn | null | undefined {
  const render = (end: number, content: string | null): string | null => {
    const message = messages[place]!;
    const changed = content === null ? messages : messages.with(place, { ...message, content });
    return unlessRefused(() => encoder.renderClosed(changed.slice(0, end), context));
  };
  for (let end = place + 2; end <= messages.length; end++) {
    const [closed, one, other] = [null, 'A', 'B'].map((content) => render(end, content));
    if (typeof closed !== 'string' || typeof one !== 'string' || typeof other !== 'string') continue;
    const parting = alike(one, other);
    const opening = answerOpening(context, encoder);
    const at = opening === '' ? -1 : closed.lastIndexOf(opening, parting);
    const from = at >= 0 && at + opening.length <= parting ? at + opening.length : parting;
    const rest = one.slice(parting + 1); // behind the content
    const behind = closed.length - rest.length;
    const stop = stopAtStart(rest, encoder.stops);
    if (stop === null || behind < from) return undefined;
    const to = behind + stop;
    const turn: WrittenTurn = { text: closed.slice(0, to), from, runs: [{ from, to }], end: 'written' };
    const blocks = encoder.generatedBlocks(messages.slice(0, end), context);
    return withBlocks(turn, closed, blocks && blocks.filter((block) => block.from < to), use);
  }
  return undefined;
}

/** Where the token ends that stops generation at the beginning of the text, behind white space; null: another text stands there. */
function stopAtStart(text: string, stops: readonly string[]): number | null {
  const space = text.length - text.trimStart().length;
  const stop = stops.find((each) => text.startsWith(each, space));
  return stop === undefined ? null : space + stop.length;
}

function findEnd(
  closed: string,
  from: number,
  messages: readonly ChatMessage[],
  place: number,
  context: TemplateContext,
  encoder: ConversationEncoder,
): Pick<WrittenTurn, 'text' | 'end'> {
  const { content, stop } = readTail(closed, from, encoder.stops);
  if (stop !== null) return { text: closed.slice(0, stop), end: 'written' };
  const ended = endBehindContent(closed, from, messages, place, context, encoder);
  if (ended !== null) return { text: closed.slice(0, ended), end: 'written' };
  const next = nextMarker(closed, messages, place, context, encoder);
  if (next !== null) return { text: closed + next, end: 'written' };
  return { text: closed.slice(0, content), end: encoder.stops.length > 0 ? 'appended' : 'unknown' };
}

/**
 * Where the prompt of the turn ends. Where the two part early, the turn starts there (a prompt that opens a thought which the turn lacks), or
 * behind the last opening of an answer before it: a prompt may write earlier turns in another way (their reasoning is dropped once an
 * answer follows), and what lies before the turn is never trained.
 */
function turnStart(
  closed: string,
  upTo: readonly ChatMessage[],
  context: TemplateContext,
  encoder: ConversationEncoder,
): number {
  const before = upTo.slice(0, -1);
  const prompt = unlessRefused(() => encoder.renderPrompt(before, context));
  const isKept = prompt !== null && closed.startsWith(prompt);
  if (isKept && before.length > 0) return prompt.length;
  const opening = answerOpening(context, encoder);
  if (isKept && prompt.includes(opening)) return prompt.length;
  const { opened, parting } = answerStart(closed, upTo, opening, context, encoder);
  if (prompt === null || before.length === 0) return opened ?? parting;
  const kept = Math.max(alike(prompt, closed), alike(encoder.renderClosed(before, context), closed));
  const begun = opening === '' ? parting : (opened ?? 0);
  return beforeStop(closed, Math.max(kept, begun), encoder.stops);
}

/** Null: the template refuses the conversation, as many do one that the assistant begins. */
function unlessRefused(render: () => string): string | null {
  try {
    return render();
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

/** `<think>` and `</s>` begin alike: a place inside a token that stops generation is where that token begins. */
function beforeStop(closed: string, place: number, stops: readonly string[]): number {
  for (const stop of stops) {
    const at = closed.lastIndexOf(stop, place - 1);
    if (at >= 0 && at + stop.length > place) return at;
  }
  return place;
}

/** Where the turn parts from other answers in its place, and where the last answer was opened before that; null: none was. */
function answerStart(
  closed: string,
  upTo: readonly ChatMessage[],
  opening: string,
  context: TemplateContext,
  encoder: ConversationEncoder,
): { opened: number | null; parting: number } {
  const { role } = upTo.at(-1)!;
  const [one, other] = ['A', 'B'].map((content) =>
    encoder.renderClosed([...upTo.slice(0, -1), { role, content }], context),
  );
  const parting = alike(one!.slice(0, alike(one!, other!)), closed);
  const at = opening === '' ? -1 : closed.slice(0, parting).lastIndexOf(opening);
  return { opened: at >= 0 ? at + opening.length : null, parting };
}

/** What the template writes to begin an answer, in a prompt and where it is known; empty: nothing, or it cannot be told. */
function answerOpening(context: TemplateContext, encoder: ConversationEncoder): string {
  const asked = [{ role: 'user', content: 'Hello.' }];
  const [closed, prompt] = [encoder.renderClosed(asked, context), encoder.renderPrompt(asked, context)];
  if (!prompt.startsWith(closed)) return '';
  const opening = prompt.slice(closed.length).trimStart();
  const answered = encoder.renderClosed([...asked, { role: 'assistant', content: 'A' }], context);
  const shared = alike(opening, answered.slice(alike(closed, answered)).trimStart());
  return shared > 0 ? opening.slice(0, shared) : opening;
}

function alike(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Where the turn's content ends, and where the first token that stops generation after it ends; null: no such token. */
function readTail(closed: string, from: number, stops: readonly string[]): { content: number; stop: number | null } {
  let content = closed.length;
  for (;;) {
    const stopped = stops.find((stop) => closed.endsWith(stop, content) && content - stop.length >= from);
    if (stopped !== undefined) content -= stopped.length;
    else if (content > from && /\s/.test(closed[content - 1]!)) content--;
    else break;
  }
  const ends = stops.map((stop) => [closed.indexOf(stop, content), stop.length] as const).filter(([at]) => at >= 0);
  const [first] = ends.sort(([a], [b]) => a - b);
  return { content, stop: first ? first[0] + first[1] : null };
}

/**
 * A template may write more behind the end of the last turn, which no model writes: where the token ends that stops generation, if what
 * follows every content begins with it; null: it does not.
 */
function endBehindContent(
  closed: string,
  from: number,
  messages: readonly ChatMessage[],
  place: number,
  context: TemplateContext,
  encoder: ConversationEncoder,
): number | null {
  const { role } = messages[place]!;
  const [one, other] = ['A', 'B'].map((content) =>
    unlessRefused(() => encoder.renderClosed([...messages.slice(0, place), { role, content }], context)),
  );
  if (typeof one !== 'string' || typeof other !== 'string' || one === other) return null;
  const rest = one.slice(alike(one, other) + 1);
  const behind = closed.length - rest.length;
  const stop = stopAtStart(rest, encoder.stops);
  return stop !== null && behind >= from && closed.endsWith(rest) ? behind + stop : null;
}

/** GLM's turns end where another role's marker begins: what follows the turn, through that marker, if it stops generation. */
function nextMarker(
  closed: string,
  messages: readonly ChatMessage[],
  place: number,
  context: TemplateContext,
  encoder: ConversationEncoder,
): string | null {
  const message = messages[place]!;
  const calls = message.tool_calls?.length ?? 0;
  const next = messages[place + 1] ?? { role: calls > 0 ? 'tool' : 'user', content: 'Hello.' };
  const followed = unlessRefused(() => encoder.renderClosed([...messages.slice(0, place + 1), next], context));
  if (followed === null || !followed.startsWith(closed)) return null; // null: the template allows nothing after this turn
  const rest = followed.slice(closed.length);
  const stop = stopAtStart(rest, encoder.stops);
  return stop === null ? null : rest.slice(0, stop);
}
