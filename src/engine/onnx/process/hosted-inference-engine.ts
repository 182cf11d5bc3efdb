// InferenceEngine whose work happens in a child process. Adds what a process boundary needs: a request that has not begun
// to stream when the child dies runs once more on its successor; one that has ends with `engine_unavailable` and why.
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { AdapterRef, GenerateRequest, InferenceEngine } from '../../inference-engine.ts';
import { createGenerationStream, type GenerationSource } from '../serving/generation-stream.ts';
import { forkWorker } from './fork-worker.ts';
import {
  STATUS_NOTICE,
  type InferenceChildStatus,
  type InferenceProcedures,
  type InferenceReady,
  type InferenceStart,
} from './inference-procedures.ts';
import { openSupervisedChild, type ChildTimings } from './supervised-child.ts';

/** Reading a large adapter from a slow disk. */
const ADAPTER_TIMEOUT_MS = 60_000;
/** Longer than the longest compilation, and a process that is being replaced. */
const PREPARE_TIMEOUT_MS = 60_000;
/** First run, and one more after the child was replaced. */
const ATTEMPTS_MAX = 2;

export interface HostedInferenceOptions extends InferenceStart {
  readonly timings: ChildTimings;
  readonly log: Log;
}

export async function openHostedInferenceEngine(options: HostedInferenceOptions): Promise<InferenceEngine> {
  const { modelDirectory, threads, precision, limits, vocabulary, timings, log } = options;
  let reported: InferenceChildStatus = { running: 0, waiting: 0, adapters: [] };
  const child = await openSupervisedChild<InferenceProcedures, InferenceStart, InferenceReady>({
    name: 'inference',
    fork: () => forkWorker('inference'),
    start: { modelDirectory, threads, precision, limits, vocabulary },
    timings,
    log,
    onNotice: (name, payload) => {
      if (name === STATUS_NOTICE) reported = payload as InferenceChildStatus;
    },
  });
  const { ready } = await child.whenReady();
  let inFlight = 0;

  /** The child bounds its queue; this bounds what waits here while it starts. */
  function checkQueue(n: number): void {
    const bound = limits.maxWaiting + limits.maxRunning;
    if (inFlight + n <= bound) return;
    const message = `The engine has ${inFlight} choices to answer, of at most ${bound}. Try again later.`;
    throw new AppError('too_many_requests', message, { retryAfterSeconds: 5 });
  }

  async function run(request: GenerateRequest, running: RunningGeneration): Promise<void> {
    const { output, controller, cancelled } = running;
    checkQueue(request.n);
    inFlight += request.n;
    try {
      for (let attempt = 1; ; attempt++) {
        let streaming = false;
        try {
          const { rpc } = await child.whenReady(controller.signal);
          const call = rpc.call('generate', request, {
            signal: controller.signal,
            onEvents: (events) => {
              streaming = true;
              output.push(events);
            },
          });
          running.cancelChoice = call.tell;
          for (const choiceIndex of cancelled) call.tell(choiceIndex);
          await call.result;
          return;
        } catch (error) {
          const lost = error instanceof AppError && error.code === 'engine_unavailable';
          if (!lost || streaming || attempt === ATTEMPTS_MAX) throw error;
          log.warn('request.retried', { requestId: request.requestId, reason: error.message });
        }
      }
    } finally {
      inFlight -= request.n;
    }
  }

  return {
    contextLength: ready.contextLength,
    vocabSize: ready.vocabSize,
    generate(request, signal) {
      const controller = new AbortController();
      const cancelled = new Set<number>();
      const output = createGenerationStream({
        n: request.n,
        signal,
        onCancelChoice: (choiceIndex) => {
          cancelled.add(choiceIndex);
          running.cancelChoice(choiceIndex);
        },
        onLeave: () => controller.abort(),
      });
      const running: RunningGeneration = { output, controller, cancelled, cancelChoice: () => {} };
      run(request, running).catch((error: unknown) => output.fail(error));
      return output.stream;
    },
    async prepare(constraint, signal) {
      const { rpc } = await child.whenReady(signal);
      await rpc.call('prepare', constraint, { timeoutMs: PREPARE_TIMEOUT_MS, signal }).result;
    },
    async loadAdapter(adapter: AdapterRef) {
      const { rpc } = await child.whenReady();
      await rpc.call('loadAdapter', adapter, { timeoutMs: ADAPTER_TIMEOUT_MS }).result;
    },
    async unloadAdapter(id) {
      const { rpc } = await child.whenReady();
      await rpc.call('unloadAdapter', id, { timeoutMs: ADAPTER_TIMEOUT_MS }).result;
    },
    status() {
      const { ready: isReady, restarts, lastFailure } = child.status();
      const seen = isReady ? reported : { running: 0, waiting: inFlight, adapters: [] };
      return { ready: isReady, ...seen, restarts, lastFailure };
    },
    close: () => child.close(),
  };
}

interface RunningGeneration {
  readonly output: GenerationSource;
  /** Aborted when the reader has left. */
  readonly controller: AbortController;
  readonly cancelled: ReadonlySet<number>;
  /** Reaches the child's stream once the call is made. */
  cancelChoice: (choiceIndex: number) => void;
}
