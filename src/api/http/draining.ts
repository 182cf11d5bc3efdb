// Graceful shutdown as clients see it: new requests are refused with a 503, running ones may finish, and those that take longer
// than the limit end with an error that explains it instead of a lost connection. Knows nothing of signals and processes.
import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '#domain/errors';
import { whenOver } from './ended-answers.ts';
import { asksForSocket } from './upgrades.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Call before `close`. Returns the number of requests still running after the limit; they were ended with an error. */
    drain(limitMs: number): Promise<number>;
  }
}

export interface Draining {
  /** Aborts when the shutdown begins, so that streams of events do not delay it. */
  readonly begun: AbortSignal;
  /** Aborts when the time limit has passed. */
  readonly cut: AbortSignal;
}

/** Time for interrupted requests to send their last frames. */
const LAST_WORDS_MS = 2_000;
/** A proxy tries the next server immediately; a single server is back after about this long. */
const RETRY_AFTER_SECONDS = 5;

/** The error of requests that the shutdown interrupts, and of requests that arrive after it began. */
export const serverStopping = (): AppError =>
  new AppError('server_stopping', 'The server is stopping. Send the request again, here later or to another server.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** Call after the hooks that new requests must still run: requests refused here run no later hooks. */
export function drainOnDemand(app: FastifyInstance): Draining {
  const begun = new AbortController();
  const cut = new AbortController();
  for (const { signal } of [begun, cut]) setMaxListeners(0, signal); // one listener per running request
  let answering = 0;
  let onQuiet = () => {};

  function count(answer: ServerResponse): void {
    answering++;
    whenOver(answer, () => {
      answering--;
      if (answering === 0) onQuiet();
    });
  }
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (!asksForSocket(headers)) count(reply.raw); // workers stay connected until other requests are answered
    if (begun.signal.aborted) throw serverStopping();
  });
  app.addHook('onSend', async (_request, reply) => {
    if (begun.signal.aborted) void reply.header('connection', 'close'); // the next request on this connection would be refused
  });
  // A closing server waits for answers, not for connections: client pools keep connections open on which no request ever arrived,
  // and Node does not count those as idle.
  app.addHook('preClose', async () => {
    begun.abort();
    onQuiet = () => app.server.closeAllConnections();
    if (answering === 0) onQuiet();
  });

  function quietWithin(limitMs: number): Promise<void> {
    if (answering === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      onQuiet = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  app.decorate('drain', async (limitMs: number) => {
    begun.abort();
    await quietWithin(limitMs);
    const late = answering;
    if (late === 0) return 0;
    cut.abort();
    await quietWithin(LAST_WORDS_MS);
    return late;
  });
  return { begun: begun.signal, cut: cut.signal };
}
