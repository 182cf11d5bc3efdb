// JSON answers with long lists (base/lazy-list.ts, and Int32Array): written in pieces while they are sent, so that other requests are answered meanwhile and
// the text is never whole in memory. Knows no endpoint.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { LazyList } from '#base/lazy-list';
import { createYielder } from '#base/yield-to-loop';

/** UTF-16 units. */
const PIECE = 65_536;

/** An answer that fits in one piece is sent whole, as any other. */
export async function sendLarge(reply: FastifyReply, answer: object): Promise<FastifyReply> {
  const pieces = jsonPieces(answer);
  const first = await pieces.next();
  const second = first.done ? first : await pieces.next();
  reply.type('application/json; charset=utf-8');
  if (first.done || second.done) return reply.send(first.value ?? '');
  return reply.send(Readable.from(after([first.value, second.value], pieces), { objectMode: false }));
}

async function* after<T>(first: readonly T[], others: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first;
  yield* others;
}

/** The text at once, for an event of a stream, which nothing may interrupt. */
export const jsonText = (value: object): string => [...jsonTexts(value)].join('');

/** The same text as JSON.stringify would write if the lists were arrays. */
export async function* jsonPieces(value: object): AsyncGenerator<string> {
  const yieldToLoop = createYielder();
  let piece = '';
  for (const text of jsonTexts(value)) {
    piece += text;
    await yieldToLoop();
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

function* jsonTexts(value: object): Generator<string> {
  const mark = randomUUID();
  const lists: (LazyList<unknown> | Int32Array)[] = [];
  const text = JSON.stringify(value, (_, each: unknown) => {
    if (!(each instanceof LazyList || each instanceof Int32Array)) return each;
    lists.push(each);
    return mark;
  });
  for (const [i, between] of text.split(JSON.stringify(mark)).entries()) {
    if (i > 0) yield* listTexts(entryTexts(lists[i - 1]!));
    yield between;
  }
}

function* listTexts(entries: Iterable<string>): Generator<string> {
  let separator = '[';
  for (const entry of entries) {
    yield separator + entry;
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

/** Numbers in one text. */
const NUMBERS_AT_ONCE = 4_096;

function* entryTexts(list: LazyList<unknown> | Int32Array): Generator<string> {
  if (list instanceof LazyList) for (const entry of list) yield JSON.stringify(entry);
  else
    for (let from = 0; from < list.length; from += NUMBERS_AT_ONCE)
      yield list.subarray(from, from + NUMBERS_AT_ONCE).join();
}
