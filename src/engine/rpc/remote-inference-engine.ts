// InferenceEngine whose work happens somewhere else. Repeats nothing: what is lost with the engine ends with EngineLost,
// and whoever can ask again does so (services/chat/replaying-generation.ts).
import { AppError } from '#domain/errors';
import type { AdapterRef, GenerateRequest, InferenceEngine } from '../inference-engine.ts';
import type { EngineConnection } from './engine-connection.ts';
import type { InferenceProcedures, InferenceReady, ReportedStatus } from './inference-procedures.ts';
import { streamGeneration, type RunningGeneration } from './running-generation.ts';

/** Reading a large adapter from a slow disk. */
const ADAPTER_TIMEOUT_MS = 60_000;
/** Longer than all that the engine waits for: a turn, two threads that start, two compilations. Each has its own deadline. */
const PREPARE_TIMEOUT_MS = 180_000;

export interface RemoteInferenceOptions {
  readonly ready: InferenceReady;
  /** Choices that may be under way: the engine bounds its queue, this bounds what waits here while it starts. */
  readonly choicesMax: number;
  /** What it last said of itself. */
  readonly reported: () => ReportedStatus;
}

export function createRemoteInferenceEngine(
  connection: EngineConnection<InferenceProcedures, InferenceReady>,
  { ready: { contextLength, vocabSize }, choicesMax, reported }: RemoteInferenceOptions,
): InferenceEngine {
  let inFlight = 0;

  function checkQueue(n: number): void {
    if (inFlight + n <= choicesMax) return;
    const message = `The engine has ${inFlight} choices to answer, of at most ${choicesMax}. Try again later.`;
    throw new AppError('too_many_requests', message, { retryAfterSeconds: 5 });
  }

  async function run(request: GenerateRequest, running: RunningGeneration): Promise<void> {
    checkQueue(request.n);
    inFlight += request.n;
    try {
      const { rpc } = await connection.whenReady(running.signal);
      const call = rpc.call('generate', request, { signal: running.signal, onEvents: running.push });
      running.follow(call);
      await call.result;
    } finally {
      inFlight -= request.n;
    }
  }

  return {
    contextLength,
    vocabSize,
    generate: (request, signal) => streamGeneration(request, signal, (running) => run(request, running)),
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
      const seen = ready ? reported() : { running: 0, waiting: inFlight, adapters: [] };
      return { ready, ...seen, restarts, lastFailure };
    },
    close: () => connection.close(),
  };
}
