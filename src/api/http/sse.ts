// Server-sent events on a Fastify reply: headers with the first event, a comment during long idle times, and an end that clients
// recognise. Nothing is sent before the first event exists, so that earlier failures are plain HTTP errors.
import { once, setMaxListeners } from 'node:events';
import type { FastifyReply } from 'fastify';
import { AppError } from '#domain/errors';
import { whenOver } from './ended-answers.ts';

export interface SseOptions {
  /** After this long without an event, a `: ping` is sent: Node clients disconnect after 5 minutes of silence. */
  readonly pingMs: number;
  /** A client that reads nothing for this long is sent an error, in case it reads again, and disconnected after the same time again. */
  readonly stallMs: number;
  /** Send headers immediately: for streams that may be idle without a failure. */
  readonly openAtOnce?: boolean;
}

/**
 * Sends each frame (see `sseFrame`) as it arrives. If `frames` fails before the first one, the error is thrown and nothing was
 * sent; later, `onError` returns the last frames. Stops iterating `frames` when the client disconnects.
 */
export async function sendEvents(
  reply: FastifyReply,
  frames: AsyncIterable<string>,
  onError: (error: unknown) => string,
  { pingMs, stallMs, openAtOnce = false }: SseOptions,
): Promise<void> {
  const { raw } = reply;
  const open = () => {
    if (raw.headersSent) return;
    reply.hijack();
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no', // proxies must not buffer events
    });
  };
  if (openAtOnce) {
    open();
    raw.flushHeaders();
  }
  const ping = setInterval(() => {
    if (raw.destroyed) return;
    open();
    raw.write(': ping\n\n');
  }, pingMs);
  try {
    for await (const frame of frames) {
      if (raw.destroyed) return;
      open();
      if (!raw.write(frame)) await drained(reply, stallMs);
      ping.refresh();
    }
    open();
  } catch (error) {
    if (!raw.headersSent) throw error;
    if (!raw.destroyed) raw.write(onError(error));
  } finally {
    clearInterval(ping);
    if (raw.headersSent) endWithin(raw, stallMs);
  }
}

/** Takes nothing from `frames` while a slow reader has enough to read: engines detect this (engine/read-watch.ts). */
async function drained({ raw }: FastifyReply, stallMs: number): Promise<void> {
  if (raw.destroyed) return;
  const waiting = new AbortController();
  const stop = () => waiting.abort();
  let isUnread = false;
  const timer = setTimeout(() => {
    isUnread = true;
    stop();
  }, stallMs);
  raw.once('close', stop);
  await once(raw, 'drain', waiting).catch(() => undefined); // disconnected: the loop sees `destroyed`
  raw.off('close', stop);
  clearTimeout(timer);
  if (!isUnread) return;
  const message = `The client did not read this stream for ${stallMs / 1000} s, so it was ended. Read it as it arrives, or request less.`;
  throw new AppError('request_timeout', message);
}

function endWithin(raw: FastifyReply['raw'], ms: number): void {
  raw.end();
  const timer = setTimeout(() => raw.destroy(), ms);
  timer.unref();
  raw.once('close', () => clearTimeout(timer));
}

/** An event whose data is one line of JSON. */
export const sseFrame = (data: unknown, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

/** An event with a name; its data is one line of JSON. */
export const sseEvent = (name: string, data: unknown): string => sseEventOf(name, JSON.stringify(data));

/** The same with data that is written. */
export const sseEventOf = (name: string, data: string): string => `event: ${name}\ndata: ${data}\n\n`;

export const SSE_DONE = 'data: [DONE]\n\n';

/**
 * Aborts when the client disconnects before the answer is complete, and with `stop`, which outlives the request: unlike with
 * AbortSignal.any, `stop` keeps no reference to the request. Null: the work ends by itself when the server stops.
 */
export function clientSignal({ raw }: FastifyReply, stop: AbortSignal | null): AbortSignal {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal); // one listener per beam or prompt of the request
  const abort = () => controller.abort();
  if (stop?.aborted) abort();
  stop?.addEventListener('abort', abort);
  whenOver(raw, () => {
    stop?.removeEventListener('abort', abort);
    if (!raw.writableFinished) abort();
  });
  return controller.signal;
}

/** Aborts when the client disconnects: for work that ends by itself when the server stops. */
export const answerSignal = (reply: FastifyReply): AbortSignal => clientSignal(reply, null);
