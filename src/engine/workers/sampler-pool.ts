// InferenceEngine over all workers that sample one model. Sends each request to one worker and checks everything the worker sends.
// A request whose worker is gone fails with `engine_unavailable`; the caller decides whether to repeat it.
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import type { FinishReason } from '#domain/sampling';
import type { SamplerCapabilities } from '../capabilities.ts';
import type { AdapterRef, GenerateRequest, InferenceEngine, TokenEvent } from '../inference-engine.ts';
import { streamGeneration, type RunningGeneration } from '../rpc/running-generation.ts';
import type { ConnectedWorker } from './connected-worker.ts';
import type { WorkerModel } from './handshake.ts';
import type { OfferedFiles } from './offered-files.ts';
import { sharedBySamplers } from './shared-capabilities.ts';
import { createSamplerQueue, samplersClosed, suits, type QueueLimits } from './sampler-queue.ts';
import type { WorkerRegistry } from './worker-registry.ts';

/** Time for a gigabyte from the server's disk over a gigabit link. */
const ADAPTER_TIMEOUT_MS = 60_000;
/** Longer than the longest compilation. */
const PREPARE_TIMEOUT_MS = 60_000;

export const DEFAULT_QUEUE_LIMITS: QueueLimits = {
  waitingMax: 65_536, // 64 samplers with an RL batch of 1,024 each
  readyMs: 30_000, // clients wait about this long before they give up themselves
};

export interface SamplerPoolDeps {
  readonly model: WorkerModel;
  readonly registry: WorkerRegistry;
  readonly offered: OfferedFiles;
  readonly limits: QueueLimits;
  readonly log: Log;
}

export interface SamplerPool extends InferenceEngine {
  /** The limits of all connected samplers, or of the last connected ones if there are none. */
  readonly capabilities: SamplerCapabilities;
}

export function createSamplerPool({ model, registry, offered, limits, log }: SamplerPoolDeps): SamplerPool {
  const samplers = () => registry.of(model.id).filter(({ hello }) => hello.roles.includes('sample'));
  const queue = createSamplerQueue(samplers, model.id, limits);
  const generations = new Set<RunningGeneration>();
  let capabilities = sharedBySamplers([]);
  function look(): void {
    const declared = samplers().map(({ hello }) => hello.sampler!.capabilities);
    if (declared.length > 0) capabilities = sharedBySamplers(declared);
    queue.dispatch();
  }
  look();
  registry.onChange(look);

  async function run(request: GenerateRequest, running: RunningGeneration): Promise<void> {
    const { n, promptTokens, adapter, priority, payer, cacheScope } = request;
    const wire = adapter === null ? null : await offered.adapter(adapter);
    const isOnHead = adapter !== null && (await offered.isOnHead(adapter));
    const wanted = { promptTokens, scope: `${adapter?.id ?? ''} ${cacheScope}`, isOnHead };
    const enteredMs = performance.now();
    const place = await queue.enter({ priority, payer, size: n }, wanted, running.signal);
    const { worker } = place;
    worker.counts.calls++;
    worker.counts.waitedMs += performance.now() - enteredMs;
    const { name } = worker.hello.worker;
    function take(events: readonly TokenEvent[]): void {
      const fault = findFault(events, request, model);
      if (fault === null) {
        worker.counts.tokens += events.length;
        return running.push(events);
      }
      log.error('worker.wrong_answer', { worker: name, fault });
      running.abandon(new AppError('engine_failed', `The worker ${name} sent ${fault}.`));
    }
    try {
      const asked = { ...request, adapter: wire };
      const call = worker.rpc.call('generate', asked, { signal: running.signal, onEvents: take });
      running.follow(call);
      await call.result;
      running.abandon(new AppError('engine_failed', `The worker ${name} returned before all choices had ended.`));
    } finally {
      place.leave();
    }
  }

  /** Runs on each connected worker. Fails if it succeeded on none. */
  async function onAll(
    what: string,
    work: (worker: ConnectedWorker) => Promise<unknown>,
    suits: (worker: ConnectedWorker) => boolean = () => true,
  ): Promise<void> {
    const there = samplers().filter((worker) => worker.state === 'connected' && suits(worker));
    const outcomes = await Promise.allSettled(there.map(work));
    const failures = outcomes.flatMap((outcome, at) =>
      outcome.status === 'rejected' ? [{ worker: there[at]!.hello.worker.name, error: outcome.reason as Error }] : [],
    );
    for (const { worker, error } of failures) log.warn(`worker.${what}_failed`, { worker, err: error });
    if (failures.length > 0 && failures.length === there.length) throw failures[0]!.error;
  }

  return {
    get capabilities() {
      return capabilities;
    },
    get contextLength() {
      return samplers().reduce(
        (least, { hello }) => Math.min(least, hello.sampler!.contextLength),
        model.contextLength,
      );
    },
    vocabSize: model.vocabSize,
    generate: (request, signal) =>
      streamGeneration(request, signal, (running) => {
        generations.add(running);
        return run(request, running).finally(() => generations.delete(running));
      }),
    async prepare(constraint, payer, signal) {
      const place = await queue.enter({ priority: 0, payer, size: 0 }, NO_PROMPT, signal);
      try {
        await place.worker.rpc.call('prepare', { constraint, payer }, { timeoutMs: PREPARE_TIMEOUT_MS, signal }).result;
      } finally {
        place.leave();
      }
    },
    async loadAdapter(adapter: AdapterRef) {
      const wire = await offered.adapter(adapter);
      const isOnHead = await offered.isOnHead(adapter);
      await onAll(
        'load',
        ({ rpc }) => rpc.call('loadAdapter', wire, { timeoutMs: ADAPTER_TIMEOUT_MS }).result,
        (worker) => suits(worker, { isOnHead }),
      );
    },
    unloadAdapter: (id) =>
      onAll('unload', ({ rpc }) => rpc.call('unloadAdapter', id, { timeoutMs: ADAPTER_TIMEOUT_MS }).result),
    status() {
      const there = samplers();
      return {
        ready: there.some(({ state }) => state === 'connected'),
        running: there.reduce((sum, worker) => sum + queue.loadOf(worker), 0),
        waiting: queue.waiting,
        adapters: [...new Set(there.flatMap(({ status }) => status.adapters))],
        restarts: registry.ends(model.id).count,
        lastFailure: registry.ends(model.id).last,
      };
    },
    async close() {
      queue.close();
      for (const each of [...generations]) each.abandon(samplersClosed(model.id));
    },
  };
}

const NO_PROMPT = { promptTokens: [], scope: '', isOnHead: false };

/** Checks events from a worker, which may be any program. Returns null if they are valid for this request. */
function findFault(events: readonly TokenEvent[], { n }: GenerateRequest, { vocabSize }: WorkerModel): string | null {
  for (const event of events) {
    if ((event as unknown) === null || typeof event !== 'object') return 'an event that is not a map';
    const { choiceIndex, tokenId, logprob, topLogprobs, finishReason } = event;
    if (!isIndex(choiceIndex, n)) return `an event of choice ${String(choiceIndex)}, although there are ${n}`;
    if (!isIndex(tokenId, vocabSize))
      return `the token ${String(tokenId)}, which is not in the vocabulary of ${vocabSize}`;
    if (typeof logprob !== 'number' || Number.isNaN(logprob) || logprob > 1e-3) {
      return `the invalid log-probability ${String(logprob)}`;
    }
    if (!Array.isArray(topLogprobs)) return 'an event whose topLogprobs are not a list';
    if (finishReason !== null && !FINISH_REASONS.has(finishReason)) {
      return `the unknown finishReason ${String(finishReason).slice(0, 40)}`;
    }
  }
  return null;
}

const FINISH_REASONS: ReadonlySet<unknown> = new Set<FinishReason>(['stop', 'length']);

const isIndex = (value: unknown, count: number): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < count;
