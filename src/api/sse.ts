// Server-sent events on a Fastify reply: headers with the first event, a comment when it is quiet for long, an end that
// clients recognise. Nothing is sent before the first event is there, so that failures until then are plain HTTP errors.
import { once } from 'node:events';
import type { FastifyReply } from 'fastify';

export interface SseOptions {
  /** After this long without an event a `: ping` goes out: Node clients give up after 5 minutes of silence. */
  readonly pingMs: number;
  /** A client that reads nothing for this long is gone. */
  readonly stallMs: number;
  /** Headers now: for streams that may stay quiet although nothing is wrong. */
  readonly openAtOnce?: boolean;
}

/**
 * Sends each frame (see `sseFrame`) as it comes. If the frames fail before the first one, the error is thrown and nothing
 * was sent; later, `onError` gives the last frames. Leaves the loop over `frames` when the client is gone.
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
      'x-accel-buffering': 'no', // proxies must not collect events
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
    if (raw.headersSent) raw.end();
  }
}

/** A slow reader holds up the generation instead of filling the memory. */
async function drained({ raw }: FastifyReply, stallMs: number): Promise<void> {
  if (raw.destroyed) return;
  const left = new AbortController();
  const close = () => left.abort();
  const timer = setTimeout(() => raw.destroy(), stallMs);
  raw.once('close', close);
  await once(raw, 'drain', { signal: left.signal }).catch(() => undefined); // gone: the loop sees `destroyed`
  raw.off('close', close);
  clearTimeout(timer);
}

/** Data is one line of JSON. */
export const sseFrame = (data: unknown, id?: string): string =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

export const SSE_DONE = 'data: [DONE]\n\n';

/**
 * Aborts when the client goes away before the answer is complete, and with `stop`, which outlives the request: unlike
 * AbortSignal.any, nothing of the request stays with it.
 */
export function clientSignal({ raw }: FastifyReply, stop: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (stop.aborted) abort();
  stop.addEventListener('abort', abort);
  raw.once('close', () => {
    stop.removeEventListener('abort', abort);
    if (!raw.writableFinished) abort();
  });
  return controller.signal;
}
