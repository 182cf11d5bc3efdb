// The end of a server, as its clients see it: new requests are told to go elsewhere, running ones may finish, and what runs
// longer than the limit ends with an error that says why instead of a cut connection. Knows nothing of signals and processes.
import { setMaxListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { AppError } from '#domain/errors';
import { whenOver } from './ended-answers.ts';
import { asksForSocket } from './upgrades.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Before `close`. Gives how many requests were still running after the limit: they were ended with an error. */
    drain(limitMs: number): Promise<number>;
  }
}

export interface Draining {
  /** Aborts when the server begins to stop: followers of events must not hold it up. */
  readonly begun: AbortSignal;
  /** Aborts when the limit is over. */
  readonly cut: AbortSignal;
}

/** For requests that were cut to write their last words. */
const LAST_WORDS_MS = 2_000;
/** A proxy tries the next server at once; a lone server is back after about this long. */
const RETRY_AFTER_SECONDS = 5;

/** What a request ends with that the stop cut off, and what comes after the stop began. */
export const serverStopping = (): AppError =>
  new AppError('server_stopping', 'The server is stopping. Send the request again, here later or to another server.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** Call after the hooks that new requests must still pass: what is refused here passes no later one. */
export function drainOnDemand(app: FastifyInstance): Draining {
  const begun = new AbortController();
  const cut = new AbortController();
  for (const { signal } of [begun, cut]) setMaxListeners(0, signal); // one for each request that runs
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
    if (!asksForSocket(headers)) count(reply.raw); // workers stay until the others are answered
    if (begun.signal.aborted) throw serverStopping();
  });
  app.addHook('onSend', async (_request, reply) => {
    if (begun.signal.aborted) void reply.header('connection', 'close'); // its next request would be refused
  });
  // A server that closes waits for answers, not for connections: clients' pools keep some open on which no request ever came,
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
