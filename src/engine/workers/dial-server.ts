// The worker's end of the connection: connects to the server, introduces itself, resumes after a lost connection, and starts a new
// session if the server has forgotten it (docs/worker-protocol.md, sections 1 to 3). Knows no engine: `serve` answers the calls.
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import { WORKER_PROTOCOL } from '#domain/worker-protocol';
import type { ToClient, ToServer } from '../rpc/rpc-messages.ts';
import { decodeMessage, encodeMessage } from '../rpc/codec.ts';
import type { Hello, Refused, Welcome } from './handshake.ts';
import { createNumberedChannel, type EncodingPort, type NumberedChannel } from './numbered-channel.ts';
import { watchSocket } from './watch-socket.ts';

export interface DialOptions {
  /** The server's URL: `http://host:8484`, with its base path if it has one. */
  readonly url: string;
  readonly key: string;
  readonly name: string;
  readonly version: string;
  readonly hello: Pick<Hello, 'model' | 'roles' | 'sampler' | 'trainer'>;
  /** Answers the calls of a session; the returned function ends them when the server has forgotten the session. */
  readonly serve: (port: EncodingPort<ToClient, ToServer>) => ServedSession;
  readonly log: Log;
}

export interface ServedSession {
  /** No caller waits for the session's calls any more. */
  abandon(): Promise<void>;
}

export interface DialedServer {
  /** Rejects if a retry cannot help: refused, wrong key. Resolves after `leave`. */
  readonly over: Promise<void>;
  /** Takes no new calls, and closes when the last call has ended or after the limit. */
  leave(limitMs: number): Promise<void>;
}

const HANDSHAKE_MS = 10_000;
/** A server that accepts a connection and closes it at once is not dialled again immediately. */
const SHORT_LIVED_MS = 100;
const PAUSES_MS = [0, 500, 1_000, 2_000, 5_000, 10_000, 30_000];
/** Interval between checks whether the last call has ended. */
const LEAVE_POLL_MS = 50;

interface Session {
  readonly id: string;
  readonly channel: NumberedChannel<ToClient, ToServer>;
  readonly served: ServedSession;
  /** Calls in progress. */
  readonly calls: Set<number>;
}

export function dialServer(options: DialOptions): DialedServer {
  const { log } = options;
  const workerId = createId();
  const leaving = new AbortController();
  let session: Session | null = null;
  let socket: WebSocket | null = null;
  const over = keepConnected();
  over.catch(() => {}); // the rejection is reported to whoever awaits `over`

  async function keepConnected(): Promise<void> {
    let failures = 0;
    while (!leaving.signal.aborted) {
      const pauseMs = PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]!;
      await delay(pauseMs, undefined, { signal: leaving.signal }).catch(() => {});
      if (leaving.signal.aborted) break;
      try {
        const { lost } = await connect();
        const sinceMs = performance.now();
        log.info('server.connected', { url: options.url });
        const reason = await lost;
        failures = performance.now() - sinceMs < SHORT_LIVED_MS ? failures + 1 : 0;
        if (!leaving.signal.aborted) log.warn('server.lost', { reason });
      } catch (error) {
        if (error instanceof AppError && error.code !== 'engine_unavailable') {
          await session?.served.abandon();
          throw error;
        }
        failures++;
        log.warn('server.not_reached', { url: options.url, reason: (error as Error).message });
      }
    }
    await session?.served.abandon();
  }

  /** Resolves, once welcomed, with a promise that resolves when the connection is lost. */
  async function connect(): Promise<{ readonly lost: Promise<string> }> {
    const opened = (socket = await openSocket(options));
    const lost = new Promise<string>((resolve) =>
      opened.once('close', (code, reason) => resolve(`${code} ${reason.toString()}`.trim())),
    );
    const hello: Hello = {
      kind: 'hello',
      protocol: WORKER_PROTOCOL.version,
      worker: { id: workerId, name: options.name, version: options.version },
      session: session && { id: session.id, received: session.channel.received },
      ...options.hello,
    };
    const messages = holdMessages(opened);
    opened.send(encodeMessage(hello));
    const welcome = await readWelcome(opened, messages);
    if (!welcome.resumed) {
      await session?.served.abandon();
      session = begin(welcome);
    }
    const { channel } = session!;
    channel.attach(
      { send: (bytes) => opened.send(bytes, () => {}), close: (code, reason) => opened.close(code, reason) },
      welcome.session.received,
    );
    messages.passTo((data) => channel.take(data));
    watchSocket(opened, welcome.heartbeatMs);
    return { lost: lost.finally(() => channel.detach()) };
  }

  function begin({ session: { id }, unackedBytesMax }: Welcome): Session {
    const channel = createNumberedChannel<ToClient, ToServer>(unackedBytesMax);
    const calls = new Set<number>();
    const served = options.serve(countCalls(channel, calls));
    return { id, channel, served, calls };
  }

  return {
    over,
    async leave(limitMs) {
      session?.channel.send({ kind: 'notice', name: 'draining', payload: null });
      const deadline = AbortSignal.timeout(limitMs);
      while (session && session.calls.size > 0 && !deadline.aborted) await delay(LEAVE_POLL_MS);
      leaving.abort();
      socket?.close(1000, 'left');
      await over.catch(() => {});
    },
  };
}

/** Tracks which calls are in progress. */
function countCalls(
  channel: NumberedChannel<ToClient, ToServer>,
  calls: Set<number>,
): EncodingPort<ToClient, ToServer> {
  return {
    sendEncoded: channel.sendEncoded,
    whenRoom: channel.whenRoom,
    get isFull() {
      return channel.isFull;
    },
    send(message) {
      if (message.kind === 'return' || message.kind === 'throw') calls.delete(message.id);
      channel.send(message);
    },
    receive: (handle) =>
      channel.receive((message) => {
        if (message.kind === 'call') calls.add(message.id);
        handle(message);
      }),
  };
}

/** Codes: `invalid_api_key`, `missing_scope`, `not_found` (not a Whetstone server), `engine_unavailable` (try again). */
function openSocket({ url, key }: Pick<DialOptions, 'url' | 'key'>): Promise<WebSocket> {
  const target = `${url.replace(/\/$/, '').replace(/^http/, 'ws')}/v1/workers/connect`;
  const socket = new WebSocket(target, WORKER_PROTOCOL.subprotocol, {
    headers: { authorization: `Bearer ${key}` },
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: WORKER_PROTOCOL.frameBytesMax,
    perMessageDeflate: false,
  });
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (_request, response) => {
      const code = ({ 401: 'invalid_api_key', 403: 'missing_scope', 404: 'not_found' } as const)[
        response.statusCode as 401
      ];
      response.resume();
      socket.terminate();
      reject(
        new AppError(
          code ?? 'engine_unavailable',
          `${target} answered ${response.statusCode}${HINTS[response.statusCode!] ?? ''}.`,
        ),
      );
    });
    socket.on('error', (error) => reject(new AppError('engine_unavailable', `${target}: ${error.message}`)));
  });
}

const HINTS: Readonly<Record<number, string>> = {
  401: ': the key is not valid there',
  403: ': the key needs the scope worker (`whetstone keys create --scopes worker`)',
  404: ': this is not a Whetstone server that accepts workers',
  426: ': a proxy between them does not pass on WebSockets (the header Upgrade)',
};

/** The messages of a socket, in order; messages without a listener are kept. */
function holdMessages(socket: WebSocket) {
  const waiting: Buffer[] = [];
  let take: (data: Buffer) => void = (data) => void waiting.push(data);
  socket.on('message', (data: Buffer) => take(data));
  const passTo = (taker: (data: Buffer) => void) => {
    take = taker;
    for (const data of waiting.splice(0)) take(data);
  };
  /** Returns the next message; later ones are kept again. */
  const next = () =>
    new Promise<Buffer>((resolve) =>
      passTo((data) => {
        take = (later) => void waiting.push(later);
        resolve(data);
      }),
    );
  return { next, passTo };
}

function readWelcome(socket: WebSocket, messages: ReturnType<typeof holdMessages>): Promise<Welcome> {
  return new Promise((resolve, reject) => {
    // Not with p-timeout: the socket must be closed when the wait ends.
    const timer = setTimeout(() => {
      socket.terminate();
      reject(new AppError('engine_unavailable', `The server did not answer the hello within ${HANDSHAKE_MS} ms.`));
    }, HANDSHAKE_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      reject(new AppError('engine_unavailable', 'The server closed the connection before its welcome.'));
    });
    void messages.next().then((data) => {
      clearTimeout(timer);
      const answer = decodeMessage(data) as Welcome | Refused;
      if (answer.kind === 'welcome') return resolve(answer);
      const code = answer.code === 'too_many_workers' ? 'engine_unavailable' : 'invalid_request';
      reject(new AppError(code, `The server refuses this worker (${answer.code}): ${answer.message}`));
    });
  });
}
