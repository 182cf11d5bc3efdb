// JSON answers with long lists (base/lazy-list.ts): written in pieces while they are sent, so that other requests are answered meanwhile and
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
  const lists: LazyList<unknown>[] = [];
  const text = JSON.stringify(value, (_, each: unknown) => {
    if (!(each instanceof LazyList)) return each;
    lists.push(each);
    return mark;
  });
  for (const [i, between] of text.split(JSON.stringify(mark)).entries()) {
    if (i > 0) yield* listTexts(lists[i - 1]!);
    yield between;
  }
}

function* listTexts(list: LazyList<unknown>): Generator<string> {
  let separator = '[';
  for (const entry of list) {
    yield separator + JSON.stringify(entry);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}
