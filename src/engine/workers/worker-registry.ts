// All workers of this server: accepts new connections through the handshake, gives a returning connection to its worker, and closes
// silent connections. The pools decide which worker gets which call (sampler-pool.ts, trainer-pool.ts).
import type { WebSocket } from 'ws';
import type { Log } from '#base/log';
import { WORKER_PROTOCOL } from '#domain/worker-protocol';
import { decodeMessage, encodeMessage } from '../rpc/codec.ts';
import { createConnectedWorker, type ConnectedWorker } from './connected-worker.ts';
import { readHello, WorkerRefused, type Hello, type Refused, type Welcome, type WorkerModel } from './handshake.ts';
import { PROTOCOL_FAULT, REPLACED } from './numbered-channel.ts';
import { watchSocket } from './watch-socket.ts';

export interface RegistryLimits {
  /** Time from the connection to the hello. */
  readonly helloMs: number;
  /** Interval between pings; three without a sign of life end a connection. */
  readonly heartbeatMs: number;
  /** How long the calls of a disconnected worker are kept. */
  readonly leaseMs: number;
  readonly frameBytesMax: number;
  readonly unackedBytesMax: number;
  readonly workersMax: number;
  /** Interval between looks whether the worker's key is still valid: a revoked key must not go on reading prompts. */
  readonly keyCheckMs: number;
}

export const DEFAULT_REGISTRY_LIMITS: RegistryLimits = {
  helloMs: 10_000,
  heartbeatMs: 5_000,
  leaseMs: 30_000, // a restarted switch, a paused machine; clients of chat wait about as long
  frameBytesMax: WORKER_PROTOCOL.frameBytesMax,
  unackedBytesMax: 64 << 20,
  workersMax: 1_024,
  keyCheckMs: 10_000,
};

/** A connection was refused; the worker reads the reason. */
const REFUSED = 4000;
const LEFT = 1000;
const TOO_BIG = 1009;
const GOING_AWAY = 1001;
const INTERNAL = 1011;
/** The worker's key is not valid any more. */
const KEY_REVOKED = 4003;

export interface WorkerRegistry {
  /** An upgraded connection, already authorized; `mayStay`: whether it still is. */
  accept(socket: WebSocket, mayStay?: MayStay): void;
  /** The workers of a model that have not ended. */
  of(modelId: string): readonly ConnectedWorker[];
  list(): readonly ConnectedWorker[];
  /** Ended workers of a model: how many, and why the last one ended (continues "The worker …"). */
  ends(modelId: string): Ends;
  /** Called when workers connect, end or lose their connection. */
  onChange(handler: () => void): void;
  /** Called for each worker that ends. */
  onEnd(handler: (worker: ConnectedWorker) => void): void;
  close(): void;
}

export interface Ends {
  readonly count: number;
  readonly last: string | null;
}

export type MayStay = () => Promise<boolean>;

const NO_ENDS: Ends = { count: 0, last: null };

export function createWorkerRegistry(
  models: ReadonlyMap<string, WorkerModel>,
  limits: RegistryLimits,
  clock: { now(): number },
  log: Log,
): WorkerRegistry {
  /** By the worker's own id. */
  const workers = new Map<string, ConnectedWorker>();
  /** By model. */
  const ends = new Map<string, Ends>();
  const handlers: (() => void)[] = [];
  const endHandlers: ((worker: ConnectedWorker) => void)[] = [];
  const changed = () => handlers.forEach((handle) => handle());
  let isClosed = false;

  function accept(socket: WebSocket, mayStay: MayStay): void {
    const waiting = setTimeout(() => socket.close(REFUSED, `no hello within ${limits.helloMs} ms`), limits.helloMs);
    socket.once('close', () => clearTimeout(waiting));
    socket.on('error', () => {}); // 'close' follows
    socket.once('message', (data: Buffer) => {
      clearTimeout(waiting);
      try {
        welcome(socket, readHello(readFirst(data), models), mayStay);
      } catch (error) {
        if (!(error instanceof WorkerRefused)) {
          log.error('worker.connection_failed', { err: error });
          socket.close(INTERNAL, 'an internal error: the server log has the details');
          return;
        }
        log.warn('worker.refused', { code: error.code, reason: error.message });
        const refused: Refused = { kind: 'refused', code: error.code, message: error.message };
        socket.send(encodeMessage(refused), () => socket.close(REFUSED, error.code));
      }
    });
  }

  function welcome(socket: WebSocket, hello: Hello, mayStay: MayStay): void {
    const known = workers.get(hello.worker.id);
    const resumed = known !== undefined && known.sessionId === hello.session?.id;
    if (known && !resumed) known.end('was started again', REPLACED);
    if (!resumed && workers.size >= limits.workersMax) {
      throw new WorkerRefused(
        'too_many_workers',
        `This server already has ${workers.size} workers, which is the limit.`,
      );
    }
    const worker = resumed ? known : admit(hello);
    if (resumed) worker.counts.reconnects++;
    const { heartbeatMs, leaseMs, frameBytesMax, unackedBytesMax } = limits;
    const answer: Welcome = {
      kind: 'welcome',
      protocol: WORKER_PROTOCOL.version,
      session: { id: worker.sessionId, received: worker.received },
      resumed,
      heartbeatMs,
      leaseMs,
      frameBytesMax,
      unackedBytesMax,
    };
    socket.send(encodeMessage(answer));
    connect(socket, worker, resumed ? hello.session!.received : 0);
    const look = async () => {
      if (!(await mayStay())) worker.end('was disconnected because its key was revoked', KEY_REVOKED);
    };
    const checking = setInterval(() => void look(), limits.keyCheckMs).unref();
    socket.once('close', () => clearInterval(checking));
  }

  function admit(hello: Hello): ConnectedWorker {
    const { id, name, version } = hello.worker;
    const workerLog = log.child({ worker: name, model: hello.model.id });
    const worker = createConnectedWorker(hello, limits, clock, workerLog);
    workers.set(id, worker);
    worker.onEnd((reason) => {
      if (workers.get(id) === worker) workers.delete(id);
      const { count } = ends.get(hello.model.id) ?? NO_ENDS;
      ends.set(hello.model.id, { count: count + 1, last: `${name} ${reason}` });
      endHandlers.forEach((handle) => handle(worker));
      changed();
    });
    workerLog.info('worker.connected', { version, roles: hello.roles });
    return worker;
  }

  function connect(socket: WebSocket, worker: ConnectedWorker, received: number): void {
    let ownCode: number | null = null; // why we closed the connection: the peer may not answer with the same code
    const connection = {
      send: (bytes: Uint8Array) => socket.send(bytes, () => {}), // the channel keeps what could not be sent
      close(code: number, reason: string) {
        ownCode ??= code;
        socket.close(code, reason);
      },
    };
    worker.attach(connection, received);
    worker.heard();
    const silence = watchSocket(socket, limits.heartbeatMs, () => worker.heard());
    socket.on('message', (data: Buffer) => {
      try {
        worker.take(data);
      } catch (error) {
        log.error('worker.message_failed', { worker: worker.hello.worker.name, err: error });
        worker.end('sent a message that failed with an internal error', INTERNAL);
      }
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') ownCode ??= TOO_BIG;
    });
    socket.once('close', (theirCode: number) => {
      const code = ownCode ?? theirCode;
      const silent = silence();
      const reason = silent ?? describeClose(code, limits.frameBytesMax);
      const isLeave = silent === null && (code === LEFT || code === GOING_AWAY);
      if (code === TOO_BIG || code === PROTOCOL_FAULT) worker.end(reason);
      else worker.detach(connection, reason, isLeave);
      changed();
    });
    changed();
  }

  return {
    accept(socket, mayStay = async () => true) {
      if (isClosed) socket.close(GOING_AWAY, 'the server is stopping');
      else accept(socket, mayStay);
    },
    of: (modelId) => [...workers.values()].filter(({ hello }) => hello.model.id === modelId),
    list: () => [...workers.values()],
    ends: (modelId) => ends.get(modelId) ?? NO_ENDS,
    onChange: (handler) => void handlers.push(handler),
    onEnd: (handler) => void endHandlers.push(handler),
    close() {
      isClosed = true;
      for (const worker of [...workers.values()]) worker.end('was released because the server is stopping', GOING_AWAY);
    },
  };
}

/** A hello says a few things about a worker: what is longer is not decoded, because a byte may become an object. */
const HELLO_BYTES_MAX = 65_536;

function readFirst(data: Buffer): unknown {
  if (data.length > HELLO_BYTES_MAX)
    throw new WorkerRefused(
      'invalid_hello',
      `The hello message has ${data.length} bytes, and at most ${HELLO_BYTES_MAX} are read.`,
    );
  try {
    return decodeMessage(data);
  } catch (error) {
    throw new WorkerRefused(
      'invalid_hello',
      `The first message is not a MessagePack value: ${(error as Error).message}.`,
    );
  }
}

/** Continues "The worker …". */
function describeClose(code: number, frameBytesMax: number): string {
  switch (code) {
    case LEFT:
      return 'left';
    case GOING_AWAY:
      return 'went away';
    case TOO_BIG:
      return `sent a message of more than ${frameBytesMax} bytes`;
    case PROTOCOL_FAULT:
      return 'sent bytes that are not a frame of the protocol';
    default:
      return 'lost its connection';
  }
}
