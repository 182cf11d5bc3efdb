// The called end: runs handlers and sends the events of all calls once per turn of the event loop, so that an engine
// step is one message whatever the number of streams.
import { encodeMessage } from './codec.ts';
import {
  toWireError,
  type FarCall,
  type Port,
  type Procedures,
  type Room,
  type ToClient,
  type ToServer,
} from './rpc-messages.ts';

/** Events per message, so that the amount in transit stays measurable when many streams run at once. */
const EVENTS_MAX = 1_024;
/** Processes on one machine do not acknowledge messages. */
const ALWAYS_ROOM: Room = { isFull: false, whenRoom: () => Promise.resolve() };

export interface CallContext<Event, Control> {
  /** The caller's number for the call. */
  readonly id: number;
  /** Aborted when the caller gave up. */
  readonly signal: AbortSignal;
  readonly emit: (event: Event) => void;
  /** At most one listener; messages that arrive before it is set are kept for it. */
  readonly onControl: (listener: (payload: Control) => void) => void;
  /** For events: a handler that sends many waits for room. */
  readonly room: Room;
}

export type Handlers<P extends Procedures<P>> = {
  readonly [M in keyof P]: (
    params: P[M]['params'],
    context: CallContext<P[M]['event'], P[M]['control']>,
  ) => Promise<P[M]['result']>;
};

export interface RpcServer {
  notify(name: string, payload: unknown): void;
  /** The caller of all running calls is gone. */
  abortAll(): void;
}

interface CallEvent {
  readonly id: number;
  readonly payload: unknown;
}

type Call = Extract<ToServer, { kind: 'call' }>;

interface RunningCall {
  readonly controller: AbortController;
  readonly unheard: unknown[];
  listener: ((payload: unknown) => void) | null;
}

/** A call starts when there is room for its answer. */
export function serveRpc<P extends Procedures<P>>(
  port: Port<ToClient, ToServer>,
  handlers: Handlers<P>,
  room = ALWAYS_ROOM,
): RpcServer {
  const running = new Map<number, RunningCall>();
  const batch = createBatch<CallEvent>((events) => port.send({ kind: 'events', events }));
  const farBatch = createFarBatch(port);

  async function run({ id, method, params, far }: Call): Promise<void> {
    const call: RunningCall = { controller: new AbortController(), unheard: [], listener: null };
    running.set(id, call);
    const context: CallContext<unknown, unknown> = {
      id,
      signal: call.controller.signal,
      emit: far ? (payload) => farBatch.add(id, far, payload) : (payload) => batch.add({ id, payload }),
      onControl(listener) {
        call.listener = listener;
        for (const payload of call.unheard.splice(0)) listener(payload);
      },
      room,
    };
    let outcome: ToClient;
    try {
      if (room.isFull) await room.whenRoom();
      const handler = handlers[method as keyof P];
      outcome = { kind: 'return', id, value: await handler(params, context) };
    } catch (error) {
      outcome = { kind: 'throw', id, error: toWireError(error) };
    }
    running.delete(id);
    (far ? farBatch : batch).flush(); // a call's events come before its end
    port.send(outcome);
  }

  port.receive((message) => {
    if (message.kind === 'call') return void run(message);
    const call = running.get(message.id);
    if (!call) return; // it has just ended
    if (message.kind === 'abort') call.controller.abort();
    else if (call.listener) call.listener(message.payload);
    else call.unheard.push(message.payload);
  });

  return {
    notify(name, payload) {
      batch.flush();
      port.send({ kind: 'notice', name, payload });
    },
    abortAll() {
      for (const { controller } of running.values()) controller.abort();
    },
  };
}

/** One message holds events of one session, because each session numbers its own calls. */
function createFarBatch(port: Port<ToClient, ToServer>) {
  let session: string | null = null;
  let ownId = 0;
  const batch = createBatch<CallEvent>((events) =>
    port.send({ kind: 'far_events', id: ownId, bytes: encodeMessage({ kind: 'events', events }) }),
  );
  return {
    add(id: number, far: FarCall, payload: unknown) {
      if (far.session !== session) batch.flush();
      session = far.session;
      ownId = id;
      batch.add({ id: far.id, payload });
    },
    flush: batch.flush,
  };
}

/** Collects items until the current turn of the event loop ends. */
function createBatch<T>(send: (items: readonly T[]) => void) {
  let items: T[] = [];
  let scheduled: NodeJS.Immediate | null = null;
  const flush = () => {
    if (scheduled) clearImmediate(scheduled);
    scheduled = null;
    if (items.length === 0) return;
    const sent = items;
    items = [];
    send(sent);
  };
  return {
    add(item: T) {
      items.push(item);
      if (items.length >= EVENTS_MAX) flush();
      else scheduled ??= setImmediate(flush);
    },
    flush,
  };
}
