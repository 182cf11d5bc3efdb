// The calling end: pending calls by id, each with its events, an optional deadline and an abort signal. When the other
// process is lost, every pending call fails with the same cause. Knows nothing of processes or engines.
import { AppError } from '#domain/errors';
import {
  fromWireError,
  type FarCall,
  type Port,
  type Procedures,
  type ToClient,
  type ToServer,
} from './rpc-messages.ts';

export interface CallOptions<Event> {
  readonly signal?: AbortSignal;
  /** For calls that must be quick: fails with `engine_unavailable`. All other calls rely on the heartbeat. */
  readonly timeoutMs?: number;
  /** Called with all events of the call that came in one message. */
  readonly onEvents?: (events: readonly Event[]) => void;
  readonly relay?: Relay;
}

/** The call is made on behalf of a remote call. The called end reports its end, even after an abort; no event follows the end. */
export interface Relay {
  readonly far: FarCall;
  /** Called with the encoded bytes of a message, which holds events of this call and other calls of the session. */
  readonly send: (message: Uint8Array) => void;
}

export interface RunningCall<Result, Control> {
  readonly result: Promise<Result>;
  readonly tell: (payload: Control) => void;
}

/** A call was not answered by its deadline. */
export class CallTimeout extends AppError {}

export interface RpcClient<P extends Procedures<P>> {
  call<M extends keyof P & string>(
    method: M,
    params: P[M]['params'],
    options?: CallOptions<P[M]['event']>,
  ): RunningCall<P[M]['result'], P[M]['control']>;
  onNotice(handler: (name: string, payload: unknown) => void): void;
  /** From now on every call fails. */
  fail(error: Error): void;
}

interface PendingCall {
  onEvents: (events: readonly unknown[]) => void;
  sendOn: (message: Uint8Array) => void;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** `callee` begins the sentence that says who did not answer. */
export function createRpcClient<P extends Procedures<P>>(
  port: Port<ToServer, ToClient>,
  callee = "The model's process",
): RpcClient<P> {
  const pending = new Map<number, PendingCall>();
  let nextId = 0;
  let lost: Error | null = null;
  let onNotice: (name: string, payload: unknown) => void = () => {};

  port.receive((message) => {
    switch (message.kind) {
      case 'events':
        for (const [id, events] of groupByCall(message.events)) pending.get(id)?.onEvents(events);
        return;
      case 'far_events':
        pending.get(message.id)?.sendOn(message.bytes);
        return;
      case 'return':
        pending.get(message.id)?.resolve(message.value);
        return;
      case 'throw':
        pending.get(message.id)?.reject(fromWireError(message.error));
        return;
      case 'notice':
        onNotice(message.name, message.payload);
    }
  });

  function start(method: string, params: unknown, options: CallOptions<unknown>): RunningCall<unknown, unknown> {
    const { signal, timeoutMs, relay } = options;
    const id = nextId++;
    const result = new Promise<unknown>((resolve, reject) => {
      if (lost) return reject(lost);
      if (signal?.aborted) return reject(cancelled(signal));
      // Not with p-timeout: an early end must also abort the call at the other end.
      const timer = timeoutMs === undefined ? null : setTimeout(onTimeout, timeoutMs);
      const finish = () => {
        pending.delete(id);
        if (timer) clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const giveUp = (error: Error) => {
        finish();
        port.send({ kind: 'abort', id });
        reject(error);
      };
      function onTimeout(): void {
        const message = `${callee} did not answer within ${timeoutMs! / 1000} s. Try again.`;
        giveUp(new CallTimeout('engine_unavailable', message, { cause: new Error(`no answer to ${method}`) }));
      }
      function onAbort(): void {
        if (relay) port.send({ kind: 'abort', id });
        else giveUp(cancelled(signal!));
      }
      signal?.addEventListener('abort', onAbort, { once: true });
      pending.set(id, {
        onEvents: options.onEvents ?? (() => {}),
        sendOn: relay?.send ?? (() => {}),
        resolve: (value) => (finish(), resolve(value)),
        reject: (error) => (finish(), reject(error)),
      });
      port.send({ kind: 'call', id, method, params, ...(relay ? { far: relay.far } : {}) });
    });
    const tell = (payload: unknown) => {
      if (pending.has(id)) port.send({ kind: 'tell', id, payload });
    };
    return { result, tell };
  }

  return {
    call: (method, params, options = {}) => start(method, params, options),
    onNotice: (handler) => (onNotice = handler),
    fail(error) {
      lost = error;
      for (const call of [...pending.values()]) call.reject(error);
    },
  };
}

const cancelled = (signal: AbortSignal): AppError =>
  new AppError('cancelled', 'The request was cancelled.', { cause: signal.reason });

function groupByCall(events: readonly { id: number; payload: unknown }[]): Map<number, unknown[]> {
  const byCall = new Map<number, unknown[]>();
  for (const { id, payload } of events) {
    const own = byCall.get(id);
    if (own) own.push(payload);
    else byCall.set(id, [payload]);
  }
  return byCall;
}
