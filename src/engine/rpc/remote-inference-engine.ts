// InferenceEngine that runs in another process. Never repeats a call: calls of a lost engine end with EngineLost, and the
// caller may repeat them (services/chat/replaying-generation.ts).
import type { AdapterRef, GenerateRequest, InferenceEngine } from '../inference-engine.ts';
import { createTally } from '#base/tally';
import { findRoom } from '../queue-room.ts';
import type { EngineConnection } from './engine-connection.ts';
import type { InferenceProcedures, InferenceReady, ReportedStatus, GenerationControl } from './inference-procedures.ts';
import type { Relay, RpcClient, RunningCall } from './rpc-client.ts';
import type { CallContext } from './rpc-server.ts';
import { streamGeneration } from './running-generation.ts';

/** Time to read a large adapter from a slow disk. */
const ADAPTER_TIMEOUT_MS = 60_000;
/** Longer than all that the engine waits for: a queue, two thread starts, two compilations. Each has its own deadline. */
const PREPARE_TIMEOUT_MS = 180_000;

type InferenceRpc = RpcClient<InferenceProcedures>;
type GenerateCall = RunningCall<null, GenerationControl>;

export interface RemoteInferenceOptions {
  readonly ready: InferenceReady;
  /** Choices in progress. The engine bounds its own queue; this bounds the calls that wait here while it starts. */
  readonly choicesMax: number;
  /** The engine's latest report. */
  readonly reported: () => ReportedStatus;
}

export interface RemoteInferenceEngine extends InferenceEngine {
  /** Like `generate`, on behalf of a remote call: passes the engine's events on as they come. Resolves at the end. */
  relay(request: GenerateRequest, from: RelayedCall, relay: Relay): Promise<void>;
}

type RelayedCall = Pick<CallContext<never, GenerationControl>, 'signal' | 'onControl'>;

/** Whether the engine runs in another process. */
export const canRelay = (engine: InferenceEngine | null): engine is RemoteInferenceEngine =>
  engine !== null && 'relay' in engine;

export function createRemoteInferenceEngine(
  connection: EngineConnection<InferenceProcedures, InferenceReady>,
  { ready: { contextLength, vocabSize }, choicesMax, reported }: RemoteInferenceOptions,
): RemoteInferenceEngine {
  const inFlight = createTally();

  async function run(
    { n, payer }: GenerateRequest,
    signal: AbortSignal,
    call: (rpc: InferenceRpc) => GenerateCall,
  ): Promise<void> {
    findRoom(n, inFlight.of(payer), choicesMax);
    inFlight.add(payer, n);
    try {
      const { rpc } = await connection.whenReady(signal);
      await call(rpc).result;
    } finally {
      inFlight.add(payer, -n);
    }
  }

  return {
    contextLength,
    vocabSize,
    generate: (request, signal) =>
      streamGeneration(request, signal, (running) =>
        run(request, running.signal, (rpc) => {
          const call = rpc.call('generate', request, { signal: running.signal, onEvents: running.push });
          running.follow(call);
          return call;
        }),
      ),
    relay: (request, { signal, onControl }, relay) =>
      run(request, signal, (rpc) => {
        const call = rpc.call('generate', request, { signal, relay });
        onControl(call.tell);
        return call;
      }),
    async prepare(constraint, payer, signal) {
      const { rpc } = await connection.whenReady(signal);
      await rpc.call('prepare', { constraint, payer }, { timeoutMs: PREPARE_TIMEOUT_MS, signal }).result;
    },
    async loadAdapter(adapter: AdapterRef) {
      const { rpc } = await connection.whenReady();
      await rpc.call('loadAdapter', adapter, { timeoutMs: ADAPTER_TIMEOUT_MS }).result;
    },
    async unloadAdapter(id) {
      const { rpc } = await connection.whenReady();
      await rpc.call('unloadAdapter', id, { timeoutMs: ADAPTER_TIMEOUT_MS }).result;
    },
    status() {
      const { ready, restarts, lastFailure } = connection.status();
      const seen = ready ? reported() : { running: 0, waiting: inFlight.all, adapters: [] };
      return { ready, ...seen, restarts, lastFailure };
    },
    close: () => connection.close(),
  };
}
