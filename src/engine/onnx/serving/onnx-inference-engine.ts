// The embedded sampler in this process: admits requests, then runs a loop of EngineSteps: planStep decides (scheduler.ts),
// applyPlan computes (apply-plan.ts), nextToken samples. Knows when a sequence ends and what it then releases.
// Runs in a child process (process/), because a step blocks the thread; tests run it directly.
import { randomInt } from 'node:crypto';
import { collectGarbage } from '#base/collect-garbage';
import type { Log } from '#base/log';
import { invariant } from '#base/invariant';
import type { Constraint } from '#domain/constraint';
import { AppError } from '#domain/errors';
import type { EngineVocabulary } from '../../backend.ts';
import type { KVCacheDtype, ServingPrecision } from '../../capabilities.ts';
import type { AdapterRef, GenerateRequest, GenerationStream, InferenceEngine } from '../../inference-engine.ts';
import { AdapterStore } from './adapter-store.ts';
import { applyPlan, type SampleRows, type StepContext } from './apply-plan.ts';
import { checkRequest, type RequestSizes } from './check-request.ts';
import { createGenerationStream } from '../../generation-stream.ts';
import { createGrammars, type Grammars } from '#grammar/grammars';
import { cacheBytesPerToken, capacityClasses, KVCache } from './kv-cache.ts';
import type { InferenceLimits } from './inference-limits.ts';
import { openModelRunner, type ModelRunner } from './model-runner.ts';
import type { WeightsPlace } from '../weights/weights.ts';
import { rowAt } from './logits.ts';
import { matcherOf, nextToken, type KnownTokens } from './next-token.ts';
import { createPrefixCache } from './prefix-cache.ts';
import { promptChunks } from './prompt-chunks.ts';
import { createFairRanks } from '../../rank.ts';
import { grammarsOrRefuse, openRequestScope } from './request-scope.ts';
import * as queued from './queues.ts';
import { planStep, type StepPlan } from './scheduler.ts';
import { createSequence, type LiveRequest, type Sequence } from './sequence.ts';

export interface OnnxInferenceOptions {
  readonly modelDirectory: string;
  readonly threads: number;
  /** Default: float32. */
  readonly precision?: ServingPrecision;
  /** Default: float32. */
  readonly kvCacheDtype?: KVCacheDtype;
  readonly weights?: WeightsPlace;
  readonly limits: InferenceLimits;
  /** For constraints; without a vocabulary they are refused. */
  readonly vocabulary?: EngineVocabulary;
  readonly log: Log;
}

export async function openOnnxInferenceEngine(options: OnnxInferenceOptions): Promise<InferenceEngine> {
  const { modelDirectory, threads, precision = 'float32', kvCacheDtype = 'float32', limits, weights = {} } = options;
  const { contextLength } = limits;
  const runner = await openModelRunner({ modelDirectory, threads, precision, kvCacheDtype, contextLength, weights });
  return new OnnxInferenceEngine(runner, options);
}

/** How long a step waits for masks, which are computed while the model runs and seldom take longer. */
const MASKS_MS = 20;
/** Time without work after which empty caches are returned to the system: as long as the trainer keeps its graph. */
const REST_MS = 10_000;
/** Seeds that the engine draws itself; seed + choiceIndex stays an exact integer. */
const DRAWN_SEED_MAX = 2 ** 47;

class OnnxInferenceEngine implements InferenceEngine {
  readonly contextLength: number;
  readonly vocabSize: number;
  readonly #context: StepContext;
  readonly #queues: StepContext['queues'];
  readonly #limits: InferenceLimits;
  readonly #grammars: Grammars | null;
  readonly #known: KnownTokens;
  readonly #sizes: RequestSizes;
  /** Leave between steps, because a running step reads their slots. */
  readonly #leaving = new Set<Sequence>();
  readonly #live = new Set<LiveRequest>();
  readonly #loop: Promise<void>;
  #wake: (() => void) | null = null;
  #closed = false;

  constructor(runner: ModelRunner, { limits, vocabulary, log }: OnnxInferenceOptions) {
    const { config, cacheShape } = runner;
    const tokens = Math.floor(limits.cacheBytes / cacheBytesPerToken(cacheShape));
    if (tokens < 1)
      throw new AppError('engine_failed', `A cache of ${limits.cacheBytes} bytes does not hold one token.`);
    this.contextLength = Math.min(config.maxPositions, tokens);
    this.vocabSize = config.vocab;
    this.#limits = limits;
    this.#queues = queued.createQueues();
    const classes = capacityClasses(this.contextLength);
    const tokenizerSize = vocabulary ? vocabulary.offsets.length - 1 : config.vocab;
    this.#sizes = { vocabSize: config.vocab, tokenizerSize, contextLength: this.contextLength };
    this.#known = {
      tokenCount: Math.min(config.vocab, tokenizerSize),
      eosTokenIds: new Set(vocabulary?.eosTokenIds ?? []),
    };
    this.#context = {
      queues: this.#queues,
      ranks: createFairRanks(),
      budget: { classes, tokens },
      limits,
      runner,
      tokenCount: this.#known.tokenCount,
      cache: new KVCache(cacheShape, classes, tokens),
      prefixes: createPrefixCache(limits.prefixCacheBytes),
      adapters: new AdapterStore(config, limits),
      log,
    };
    this.#grammars = vocabulary
      ? createGrammars({ vocabulary, vocabSize: config.vocab, stopTokenIds: vocabulary.eosTokenIds, log })
      : null;
    this.#loop = this.#runSteps();
  }

  generate(request: GenerateRequest, signal: AbortSignal): GenerationStream {
    const sequences: Sequence[] = [];
    const output = createGenerationStream({
      n: request.n,
      signal,
      onCancelChoice: (choiceIndex) => this.#cancel(sequences.slice(choiceIndex, choiceIndex + 1)),
      onLeave: () => this.#cancel(sequences),
      unread: {
        afterMs: this.#limits.unreadMs,
        onChange: (isUnread) => {
          live.unread = isUnread;
          this.#wake?.();
        },
      },
    });
    const { promptTokens, adapter, sampling, n, priority, payer, cacheScope } = request;
    const live: LiveRequest = {
      rank: this.#context.ranks.assign({ priority, payer, size: n }),
      request,
      chunks: promptChunks(promptTokens, this.#limits.prefillChunk, { cacheScope, adapterId: adapter?.id ?? null }),
      output,
      sequences,
      openSequences: 0,
      unread: false,
      deadEnd: null,
      scope: null,
      prompt: { cachedTokenCount: 0, logprobs: sampling.promptLogprobs === null ? null : [] },
    };
    const withdraw = () => this.#context.ranks.withdraw(live.rank, n);
    if (signal.aborted) {
      withdraw();
      return output.stream; // its end was written above, before there were sequences to cancel
    }
    this.#admit(live)
      .catch((error: unknown) => output.fail(error))
      .finally(() => live.scope === null && withdraw());
    return output.stream;
  }

  async prepare(constraint: Constraint, payer: string, signal: AbortSignal): Promise<void> {
    await grammarsOrRefuse(this.#grammars).compile(constraint, { payer, signal });
  }

  async loadAdapter(adapter: AdapterRef): Promise<void> {
    await this.#context.adapters.load(adapter);
  }

  async unloadAdapter(id: string): Promise<void> {
    this.#context.adapters.unload(id);
  }

  status() {
    return {
      ready: !this.#closed,
      running: this.#queues.running.length,
      waiting: queued.countWaiting(this.#queues),
      adapters: this.#context.adapters.ids,
      restarts: 0,
      lastFailure: null,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wake?.();
    await this.#loop;
    await this.#grammars?.close();
    await this.#context.runner.close();
  }

  async #admit(live: LiveRequest): Promise<void> {
    const { request } = live;
    checkRequest(request, this.#sizes, this.#limits);
    const seed = request.sampling.seed ?? randomInt(DRAWN_SEED_MAX);
    for (let i = 0; i < request.n; i++) live.sequences.push(createSequence(live, i, seed));
    const scope = await openRequestScope(request, { adapters: this.#context.adapters, grammars: this.#grammars });
    try {
      if (this.#closed) throw new AppError('engine_unavailable', 'The engine is closing.');
      const sequences = live.sequences.filter(({ cancelled }) => !cancelled);
      if (sequences.length === 0) return;
      queued.enqueue(this.#queues, sequences, this.#limits.maxWaiting);
      live.openSequences = sequences.length;
      live.scope = scope;
      this.#live.add(live);
    } finally {
      if (live.scope === null) scope.close();
    }
    this.#wake?.();
  }

  async #runSteps(): Promise<void> {
    while (!this.#closed) {
      this.#removeLeaving();
      this.#emitParked();
      const plan = planStep(this.#queues, this.#context.budget, this.#limits);
      try {
        await this.#step(plan);
      } catch (error) {
        this.#failAll(error);
      }
    }
    this.#failAll(new AppError('engine_unavailable', 'The engine was closed.'));
  }

  async #step(plan: StepPlan<Sequence>): Promise<void> {
    if (plan.kind === 'idle') return this.#sleep();
    for await (const rows of applyPlan(this.#context, plan)) this.#emit(rows);
    await yieldToEvents();
  }

  /** The sequences whose masks are ready. */
  #emitParked(): void {
    for (const sequence of this.#queues.running.filter(({ parked }) => parked !== null)) {
      if (!matcherOf(sequence)!.isReady(0)) continue;
      const logits = sequence.parked!;
      sequence.parked = null;
      this.#emit({ sequences: [sequence], rowOf: () => 0, logits });
    }
  }

  /**
   * Samples for the sequences whose tokens are all computed; preempted ones repeat what they generated before. A sequence that waits for
   * a mask is parked, so that the others need not wait.
   */
  #emit({ sequences, rowOf, logits }: SampleRows): void {
    const failed: { sequence: Sequence; error: unknown }[] = [];
    const ended: Sequence[] = [];
    const untilMs = performance.now() + MASKS_MS;
    sequences.forEach((sequence, i) => {
      const { computedTokenCount, tokenCount, cancelled, parked } = sequence;
      if (computedTokenCount < tokenCount || cancelled || parked) return;
      if (matcherOf(sequence)?.isReady(Math.max(0, untilMs - performance.now())) === false) {
        sequence.parked = rowAt(logits, rowOf(i));
        return;
      }
      try {
        const event = nextToken(sequence, logits, rowOf(i), this.#known);
        if (event.finishReason !== null) ended.push(sequence);
        sequence.live.output.push([event]);
      } catch (error) {
        failed.push({ sequence, error });
      }
    });
    // First, before other slots are moved over these: their values must not reach other sequences.
    for (const { sequence, error } of failed) {
      const { live, tokenCount, promptTokenCount } = sequence;
      const concernsOne = error instanceof AppError && error.code === 'dead_end' && tokenCount > promptTokenCount;
      if (concernsOne) live.deadEnd = error;
      else live.output.fail(error);
      this.#end(sequence, { erase: true });
      if (!concernsOne) this.#cancel(live.sequences);
    }
    for (const sequence of ended) this.#end(sequence);
  }

  #cancel(sequences: readonly Sequence[]): void {
    for (const sequence of sequences) {
      sequence.cancelled = true;
      this.#leaving.add(sequence);
    }
    this.#wake?.();
  }

  #removeLeaving(): void {
    for (const sequence of this.#leaving) this.#end(sequence);
    this.#leaving.clear();
  }

  /** Releases everything that the sequence holds. Idempotent. */
  #end(sequence: Sequence, options?: { erase: boolean }): void {
    const { cache } = this.#context;
    const { prefilling } = this.#queues;
    if (queued.remove(this.#queues, sequence) === 'gone') return;
    if (prefilling && this.#queues.prefilling === null && prefilling.slot) cache.release(prefilling.slot, options);
    if (sequence.slot) cache.release(sequence.slot, options);
    sequence.slot = null;
    const { live } = sequence;
    live.openSequences--;
    if (live.openSequences > 0) return;
    if (live.deadEnd) live.output.fail(live.deadEnd);
    this.#live.delete(live);
    live.scope!.close();
  }

  /** A step failed, so the cache may be inconsistent: every sequence fails. */
  #failAll(error: unknown): void {
    const { waiting, prefilling, running } = this.#queues;
    if (!this.#closed) this.#context.log.error('step.failed', { error: String(error), sequences: running.length });
    const groups = prefilling ? [prefilling, ...waiting] : waiting;
    for (const sequence of [...running, ...groups.flatMap(({ sequences }) => sequences)]) {
      const failure =
        error instanceof AppError ? error : new AppError('engine_failed', 'The engine failed.', { cause: error });
      sequence.live.output.fail(failure);
      this.#end(sequence, { erase: true });
    }
    invariant(this.#live.size === 0, 'a request outlived its sequences');
  }

  /** No sequence is in the cache: its memory is returned to the system. The prefix cache stays. */
  #rest(): void {
    this.#context.runner.releasePast();
    this.#context.cache.trim();
    collectGarbage();
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const resting = setTimeout(() => this.#rest(), REST_MS).unref();
      this.#wake = () => {
        this.#wake = null;
        clearTimeout(resting);
        resolve();
      };
      if (this.#closed || this.#leaving.size > 0) this.#wake();
    });
  }
}

/** Lets readers take their events, and messages arrive, before the next step blocks the thread. */
const yieldToEvents = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
