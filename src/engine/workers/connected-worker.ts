// One worker of this server, from its hello to its end. It is called over a numbered channel and may reconnect within its lease;
// when it is gone, all its calls fail with the cause. Knows no routing and no WebSocket.
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import { EngineLost, type ProcessEnd } from '../engine-lost.ts';
import { NOTHING_REPORTED, STATUS_NOTICE, type ReportedStatus } from '../rpc/inference-procedures.ts';
import { createRpcClient, type RpcClient } from '../rpc/rpc-client.ts';
import type { Port, ToClient, ToServer } from '../rpc/rpc-messages.ts';
import type { Hello } from './handshake.ts';
import { createNumberedChannel, PROTOCOL_FAULT, REPLACED, type Connection } from './numbered-channel.ts';
import { readWorkerMessage } from './worker-messages.ts';
import type { WorkerProcedures } from './worker-procedures.ts';

export interface WorkerLimits {
  /** How long a worker without a connection keeps its calls. */
  readonly leaseMs: number;
  readonly unackedBytesMax: number;
}

/** Counters of a worker. The component that causes an event counts it. */
export interface WorkerCounts {
  /** Training sessions open on the worker. */
  sessions: number;
  /** Sampled tokens received. */
  tokens: number;
  /** Connections after its first. */
  reconnects: number;
  /** Sampling requests sent to the worker. */
  calls: number;
  /** Total time that these requests waited for a place. */
  waitedMs: number;
  /** Bytes of messages in both directions. */
  messageBytes: number;
}

export interface ConnectedWorker {
  readonly hello: Hello;
  readonly sessionId: string;
  readonly connectedAtMs: number;
  readonly rpc: RpcClient<WorkerProcedures>;
  /** `away`: disconnected, within its lease. `draining`: takes no new calls. */
  readonly state: 'connected' | 'away' | 'draining' | 'ended';
  /** Its latest report. */
  readonly status: ReportedStatus;
  readonly counts: WorkerCounts;
  /** When the last message or sign of life arrived. */
  readonly heardAtMs: number;
  /** Too many messages to it are unacknowledged; nothing more should be sent. */
  readonly isFull: boolean;
  /** Bytes of its messages received. */
  readonly received: number;
  attach(connection: Connection, received: number): void;
  take(bytes: Uint8Array): void;
  /** A sign of life: a ping or a message. */
  heard(): void;
  /** The connection is gone. `reason` continues the sentence "The worker …"; `isLeave`: the worker announced it. */
  detach(connection: Connection, reason: string, isLeave: boolean): void;
  /** Its calls fail; an open connection is closed with this code. */
  end(reason: string, closeCode?: number): void;
  onEnd(handler: (reason: string) => void): void;
}

export function createConnectedWorker(
  hello: Hello,
  limits: WorkerLimits,
  clock: { now(): number },
  log: Log,
): ConnectedWorker {
  const channel = createNumberedChannel<ToServer, unknown>(limits.unackedBytesMax);
  const port: Port<ToServer, ToClient> = {
    send: channel.send,
    receive: (handle) =>
      channel.receive((said) => {
        const message = readWorkerMessage(said);
        if (typeof message === 'string') end(`sent ${message}`, PROTOCOL_FAULT);
        else handle(message);
      }),
  };
  const rpc = createRpcClient<WorkerProcedures>(port, `The worker ${hello.worker.name}`);
  const ended: ((reason: string) => void)[] = [];
  let current: Connection | null = null;
  let state: ConnectedWorker['state'] = 'away';
  let status = NOTHING_REPORTED;
  let isDraining = false;
  let lease: NodeJS.Timeout | null = null;
  let heardAtMs = clock.now();
  const counts: WorkerCounts = { sessions: 0, tokens: 0, reconnects: 0, calls: 0, waitedMs: 0, messageBytes: 0 };

  rpc.onNotice((name, payload) => {
    if (name === STATUS_NOTICE) status = readStatus(payload) ?? status;
    else if (name === 'draining') {
      isDraining = true;
      if (state === 'connected') state = 'draining';
      log.info('worker.draining');
    } else if (name === 'log')
      log.info('worker.log', { line: String((payload as { event?: unknown })?.event).slice(0, 200) });
    else log.warn('worker.unknown_notice', { notice: name.slice(0, 50) });
  });

  function end(reason: string, closeCode = 1000, byOthers: ProcessEnd['byOthers'] = true): void {
    if (state === 'ended') return;
    state = 'ended';
    if (lease) clearTimeout(lease);
    current?.close(closeCode, reason.slice(0, 120));
    current = null;
    channel.detach();
    rpc.fail(new EngineLost(`worker ${hello.worker.name}`, { how: reason, byOthers }));
    log.warn('worker.ended', { reason });
    for (const handle of ended) handle(reason);
  }

  return {
    hello,
    sessionId: createId(),
    connectedAtMs: clock.now(),
    rpc,
    get state() {
      return state;
    },
    get status() {
      return status;
    },
    counts,
    get heardAtMs() {
      return heardAtMs;
    },
    get isFull() {
      return channel.isFull;
    },
    get received() {
      return channel.received;
    },
    attach(connection, received) {
      if (lease) clearTimeout(lease);
      lease = null;
      current?.close(REPLACED, 'replaced by another connection');
      current = connection;
      state = isDraining ? 'draining' : 'connected';
      channel.attach(
        {
          send(bytes) {
            counts.messageBytes += bytes.length;
            connection.send(bytes);
          },
          close: (code, reason) => connection.close(code, reason),
        },
        received,
      );
    },
    take(bytes) {
      counts.messageBytes += bytes.length;
      channel.take(bytes);
    },
    heard: () => void (heardAtMs = clock.now()),
    detach(connection, reason, isLeave) {
      if (connection !== current || state === 'ended') return;
      current = null;
      channel.detach();
      if (isDraining) return end(reason);
      state = 'away';
      log.warn('worker.away', { reason, leaseMs: limits.leaseMs });
      const never = `${reason}, and did not come back within ${limits.leaseMs} ms`;
      lease = setTimeout(() => end(never, undefined, isLeave || 'unknown'), limits.leaseMs);
    },
    end: (reason, closeCode) => end(reason, closeCode),
    onEnd: (handler) => void ended.push(handler),
  };
}

function readStatus(payload: unknown): ReportedStatus | null {
  const { running, waiting, adapters } = (payload ?? {}) as Partial<ReportedStatus>;
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  if (!isCount(running) || !isCount(waiting) || !Array.isArray(adapters)) return null;
  return { running, waiting, adapters: adapters.filter((id) => typeof id === 'string') };
}
