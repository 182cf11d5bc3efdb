// The embedded sampler in this process: a loop of EngineSteps over the four nouns Scheduler, KVCache, ModelRunner and
// Sampler. Runs in a child process (process/), because a step blocks the thread; tests run it directly.
import { randomInt } from 'node:crypto';
import type { Log } from '#base/log';
import { invariant } from '#base/invariant';
import type { Constraint } from '#domain/constraint';
import { AppError } from '#domain/errors';
import type { FinishReason } from '#domain/sampling';
import type {
  AdapterRef,
  GenerateRequest,
  GenerationStream,
  InferenceEngine,
  TokenEvent,
} from '../../inference-engine.ts';
import type { ServingPrecision } from '../models/serving-graph.ts';
import { CLASSES_MAX } from '../models/class-attention.ts';
import { AdapterStore } from './adapter-store.ts';
import { checkRequest } from './check-request.ts';
import { createGenerationStream } from './generation-stream.ts';
import { createGrammars, type Grammars, type VocabularyBytes } from './grammar/grammars.ts';
import { cacheBytesPerToken, capacityClasses, capacityFor, KVCache, type CacheSlot } from './kv-cache.ts';
import type { InferenceLimits } from './inference-limits.ts';
import { openModelRunner, type ModelRunner, type RunResult } from './model-runner.ts';
import { createPrefixCache, type PrefixBlock, type PrefixCache } from './prefix-cache.ts';
import { promptChunks, rankPromptToken } from './prompt-chunks.ts';
import { createTurns } from './rank.ts';
import { sampleToken } from './sampler.ts';
import * as scheduler from './scheduler.ts';
import { createSequence, type LiveRequest, type Sequence } from './sequence.ts';

export interface OnnxInferenceOptions {
  readonly modelDirectory: string;
  readonly threads: number;
  /** Default: float32. */
  readonly precision?: ServingPrecision;
  readonly limits: InferenceLimits;
  /** For constraints; without it they are refused. */
  readonly vocabulary?: EngineVocabulary | null;
  readonly log: Log;
}

export interface EngineVocabulary extends VocabularyBytes {
  /** What a model says when its text is complete. */
  readonly eosTokenIds: readonly number[];
}

/** The part of a RunResult that tokens are sampled from. */
type Logits = Pick<RunResult, 'logits' | 'logsumexp'>;

export async function openOnnxInferenceEngine(options: OnnxInferenceOptions): Promise<InferenceEngine> {
  const { modelDirectory, threads, precision = 'float32', limits } = options;
  const { contextLength } = limits;
  return new OnnxInferenceEngine(await openModelRunner({ modelDirectory, threads, precision, contextLength }), options);
}

type Plan<Kind> = Extract<scheduler.StepPlan<Sequence>, { kind: Kind }>;

/** Seeds that the engine draws itself; seed + choiceIndex stays an exact integer. */
const DRAWN_SEED_MAX = 2 ** 47;

class OnnxInferenceEngine implements InferenceEngine {
  readonly contextLength: number;
  readonly vocabSize: number;
  readonly #runner: ModelRunner;
  readonly #limits: InferenceLimits;
  readonly #log: Log;
  readonly #budget: scheduler.CacheBudget;
  readonly #cache: KVCache;
  readonly #prefixes: PrefixCache;
  readonly #adapters: AdapterStore;
  readonly #grammars: Grammars | null;
  readonly #eosTokenIds: ReadonlySet<number>;
  readonly #turns = createTurns();
  readonly #queues = scheduler.createQueues<Sequence>();
  /** Leave between steps: a step that runs reads their slots. */
  readonly #leaving = new Set<Sequence>();
  readonly #live = new Set<LiveRequest>();
  readonly #loop: Promise<void>;
  #wake: (() => void) | null = null;
  #closed = false;

  constructor(runner: ModelRunner, { limits, vocabulary = null, log }: OnnxInferenceOptions) {
    const { config } = runner;
    const tokens = Math.floor(limits.cacheBytes / cacheBytesPerToken(config));
    if (tokens < 1)
      throw new AppError('engine_failed', `A cache of ${limits.cacheBytes} bytes does not hold one token.`);
    this.contextLength = Math.min(config.maxPositions, tokens);
    this.vocabSize = config.vocab;
    this.#runner = runner;
    this.#limits = limits;
    this.#log = log;
    this.#budget = { classes: capacityClasses(this.contextLength), tokens };
    this.#cache = new KVCache(config, this.#budget.classes, tokens);
    this.#prefixes = createPrefixCache(limits.prefixCacheBytes);
    this.#adapters = new AdapterStore(config, limits.maxAdapters);
    this.#eosTokenIds = new Set(vocabulary?.eosTokenIds ?? []);
    this.#grammars =
      vocabulary && createGrammars({ vocabulary, vocabSize: config.vocab, stopTokenIds: vocabulary.eosTokenIds, log });
    this.#loop = this.#runSteps();
  }

  generate(request: GenerateRequest, signal: AbortSignal): GenerationStream {
    const sequences: Sequence[] = [];
    const output = createGenerationStream({
      n: request.n,
      signal,
      onCancelChoice: (choiceIndex) => this.#cancel(sequences.slice(choiceIndex, choiceIndex + 1)),
      onLeave: () => this.#cancel(sequences),
    });
    const { promptTokens, adapter, sampling, n, priority = 0, payer = '', cacheScope = '' } = request;
    const live: LiveRequest = {
      rank: this.#turns.take({ priority, payer, size: n }),
      request,
      chunks: promptChunks(promptTokens, this.#limits.prefillChunk, { cacheScope, adapterId: adapter?.id ?? null }),
      output,
      sequences,
      openSequences: 0,
      prompt: { cachedTokenCount: 0, logprobs: sampling.promptLogprobs === null ? null : [] },
    };
    this.#admit(live).catch((error: unknown) => output.fail(error));
    return output.stream;
  }

  async prepare(constraint: Constraint, signal: AbortSignal): Promise<void> {
    await this.#grammarsOrRefuse().compile(constraint, signal);
  }

  async loadAdapter(adapter: AdapterRef): Promise<void> {
    await this.#adapters.load(adapter);
  }

  async unloadAdapter(id: string): Promise<void> {
    this.#adapters.unload(id);
  }

  status() {
    return {
      ready: !this.#closed,
      running: this.#queues.running.length,
      waiting: scheduler.countWaiting(this.#queues),
      adapters: this.#adapters.ids,
      restarts: 0,
      lastFailure: null,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wake?.();
    await this.#loop;
    await this.#grammars?.close();
    await this.#runner.close();
  }

  async #admit(live: LiveRequest): Promise<void> {
    const { request } = live;
    checkRequest(request, this, this.#limits);
    const seed = request.sampling.seed ?? randomInt(DRAWN_SEED_MAX);
    for (let i = 0; i < request.n; i++) live.sequences.push(createSequence(live, i, seed));
    await this.#openMatchers(live);
    if (request.adapter) await this.#adapters.acquire(request.adapter);
    try {
      if (this.#closed) throw new AppError('engine_unavailable', 'The engine is closing.');
      const sequences = live.sequences.filter(({ cancelled }) => !cancelled);
      if (sequences.length === 0) return;
      scheduler.enqueue(this.#queues, sequences, this.#limits);
      live.openSequences = sequences.length;
      this.#live.add(live);
    } finally {
      if (!this.#live.has(live)) {
        if (request.adapter) this.#adapters.release(request.adapter.id);
        for (const { matcher } of live.sequences) matcher?.close();
      }
    }
    this.#wake?.();
  }

  async #openMatchers({ request, sequences }: LiveRequest): Promise<void> {
    if (!request.constraint) return;
    const { constraint, afterTokenId } = request.constraint;
    const grammars = this.#grammarsOrRefuse();
    await grammars.compile(constraint);
    for (const sequence of sequences) {
      sequence.matcher = await grammars.open(constraint);
      sequence.constrained = afterTokenId === null;
    }
  }

  #grammarsOrRefuse(): Grammars {
    if (this.#grammars) return this.#grammars;
    throw new AppError('invalid_request', 'This engine was opened without a vocabulary, so it cannot keep to a constraint.'); // prettier-ignore
  }

  async #runSteps(): Promise<void> {
    while (!this.#closed) {
      this.#removeLeaving();
      const plan = scheduler.planStep(this.#queues, this.#budget, this.#limits);
      try {
        await this.#step(plan);
      } catch (error) {
        this.#failAll(error);
      }
    }
    this.#failAll(new AppError('engine_unavailable', 'The engine was closed.'));
  }

  async #step(plan: scheduler.StepPlan<Sequence>): Promise<void> {
    if (plan.kind === 'idle') return this.#sleep();
    if (plan.kind === 'prefill') await this.#prefill(plan);
    else await this.#decode(plan);
    await turn();
  }

  async #prefill(plan: Plan<'prefill'>): Promise<void> {
    const { group, start, end, capacity } = plan;
    const { live, tokens, promptTokenCount } = group.sequences[0]!;
    if (group.slot === null) {
      scheduler.beginPrefill(this.#queues, group);
      this.#turns.begin(group.rank);
      if (this.#reusePrefix(group) === 'found') return;
    }
    group.slot = this.#fit(group.slot, capacity);
    const adapterId = live.request.adapter?.id ?? null;
    const past = start === 0 ? null : this.#cache.viewSlot(group.slot);
    const allLogits = live.prompt !== null && live.prompt.logprobs !== null;
    const input = { tokens: tokens.slice(start, end), start, past, adapterId, allLogits };
    const result = await this.#runner.prefill(input, this.#adapters.alone(adapterId));
    this.#cache.append(group.slot, result.computed, 0);
    group.computedTokenCount = end;
    this.#queues.prefillTokensSinceDecode += end - start;
    if (allLogits) this.#rankPrompt(live, start, result);
    const last = lastRow(result, this.vocabSize);
    const isEnd = end === promptTokenCount;
    const { key } = live.chunks.find((chunk) => chunk.end === end)!;
    this.#prefixes.put(key, { computed: result.computed, end: isEnd ? last : null });
    if (isEnd) this.#start(group, last);
  }

  /** Takes what the prefix cache has of the prompt. A prompt that is all there starts without a step. */
  #reusePrefix(group: scheduler.PrefillGroup<Sequence>): 'found' | 'nothing' {
    const { live, promptTokenCount } = group.sequences[0]!;
    if (live.prompt?.logprobs) return 'nothing'; // its logits are wanted, and those are not kept
    let last: PrefixBlock | null = null;
    const room = this.#budget.tokens - scheduler.usedTokens(this.#queues);
    for (const { end, key } of live.chunks) {
      const capacity = capacityFor(this.#budget.classes, end);
      const block = capacity <= room ? this.#prefixes.find(key) : null;
      if (!block || (end === promptTokenCount && block.end === null)) break;
      group.slot = this.#fit(group.slot, capacity);
      this.#cache.append(group.slot, block.computed, 0);
      group.computedTokenCount = end;
      last = block;
    }
    if (!last) return 'nothing';
    if (live.prompt) live.prompt.cachedTokenCount = group.computedTokenCount;
    if (group.computedTokenCount === promptTokenCount) this.#start(group, last.end!);
    return 'found';
  }

  /** Row i of a chunk's logits is about the token behind it. */
  #rankPrompt({ prompt, request }: LiveRequest, start: number, { logits, logsumexp }: RunResult): void {
    const { promptTokens, sampling } = request;
    if (start === 0) prompt!.logprobs!.splice(0, Infinity, null);
    for (let row = 0; row < logsumexp.length; row++) {
      const tokenId = promptTokens[start + row + 1];
      if (tokenId === undefined) return;
      const own = logits.subarray(row * this.vocabSize, (row + 1) * this.vocabSize);
      prompt!.logprobs!.push(rankPromptToken(own, logsumexp[row]!, tokenId, sampling.promptLogprobs!));
    }
  }

  /** The prompt is computed: its choices take their copies of the cache and their first tokens. */
  #start(group: scheduler.PrefillGroup<Sequence>, last: Logits): void {
    const { slot } = group;
    const count = scheduler.countStarts(this.#queues, group, this.#budget, this.#limits);
    const started = scheduler.finishPrefill(this.#queues, group, count);
    started.forEach((sequence, i) => {
      sequence.slot = i === 0 ? slot : this.#cache.fork(slot!);
      sequence.computedTokenCount = sequence.promptTokenCount;
    });
    for (const sequence of started) this.#cache.activate(sequence.slot!);
    this.#emit(started, () => 0, last);
  }

  async #decode(plan: Plan<'decode'>): Promise<void> {
    this.#preempt(plan);
    this.#queues.prefillTokensSinceDecode = 0;
    for (const sequence of plan.sequences) {
      const capacity = capacityFor(this.#budget.classes, sequence.computedTokenCount + 1);
      sequence.slot = this.#fit(sequence.slot, Math.max(capacity, sequence.slot!.capacity));
    }
    const classes = this.#budget.classes
      .map((capacity) => plan.sequences.filter(({ slot }) => slot!.capacity === capacity))
      .filter((batch) => batch.length > 0);
    for (let c = 0; c < classes.length; c += CLASSES_MAX) await this.#decodeTogether(classes.slice(c, c + CLASSES_MAX));
  }

  /** By capacity class: all sequences that decode in it, since a view of them is the first so many slots. */
  async #decodeTogether(classes: readonly Sequence[][]): Promise<void> {
    for (const batch of classes) batch.sort((a, b) => a.slot!.index - b.slot!.index);
    const batch = classes.flat();
    const adapterIds = batch.map(({ live }) => live.request.adapter?.id ?? null);
    const input = {
      tokens: batch.map((sequence) => sequence.tokens[sequence.computedTokenCount]!),
      positions: batch.map((sequence) => sequence.computedTokenCount),
      past: classes.map((own) => this.#cache.viewFirst(own[0]!.slot!.capacity, own.length)),
      adapterIds,
    };
    const result = await this.#runner.decode(input, this.#adapters.fused(adapterIds));
    batch.forEach((sequence, row) => {
      this.#cache.append(sequence.slot!, result.computed, row);
      sequence.computedTokenCount++;
    });
    this.#emit(batch, (i) => i, result);
  }

  #preempt({ preempted, preemptPrefill }: Plan<'decode'>): void {
    const { prefilling } = this.#queues;
    if (preemptPrefill && prefilling) {
      this.#queues.prefilling = null;
      this.#cache.release(prefilling.slot!);
      scheduler.requeue(this.#queues, prefilling.sequences);
    }
    for (const sequence of preempted.toReversed()) {
      scheduler.remove(this.#queues, sequence);
      this.#cache.release(sequence.slot!);
      sequence.slot = null;
      sequence.computedTokenCount = 0;
      scheduler.requeue(this.#queues, [sequence]);
      this.#log.debug('sequence.preempted', {
        requestId: sequence.live.request.requestId,
        tokens: sequence.tokenCount,
      });
    }
  }

  #fit(slot: CacheSlot | null, capacity: number): CacheSlot {
    if (slot === null) return this.#cache.allocate(capacity);
    return slot.capacity < capacity ? this.#cache.grow(slot, capacity) : slot;
  }

  /** Samples for the sequences whose tokens are all computed; the others repeat what they said before preemption. */
  #emit(sequences: readonly Sequence[], rowOf: (index: number) => number, result: Logits): void {
    const failed: { sequence: Sequence; error: unknown }[] = [];
    const ended: Sequence[] = [];
    sequences.forEach((sequence, i) => {
      if (sequence.computedTokenCount < sequence.tokenCount || sequence.cancelled) return;
      try {
        const event = this.#sample(sequence, result, rowOf(i));
        sequence.tokens.push(event.tokenId);
        if (event.finishReason !== null) ended.push(sequence);
        sequence.live.output.push([event]);
      } catch (error) {
        failed.push({ sequence, error });
      }
    });
    // First of all, before other slots move over theirs: their values must not reach anyone.
    for (const { sequence, error } of failed) {
      sequence.live.output.fail(error);
      this.#end(sequence, { erase: true });
      this.#cancel(sequence.live.sequences);
    }
    for (const sequence of ended) this.#end(sequence);
  }

  #sample(sequence: Sequence, { logits, logsumexp }: Logits, row: number): TokenEvent {
    const { live, choiceIndex, processors, matcher, random } = sequence;
    const { sampling, constraint } = live.request;
    const input = {
      logits: logits.subarray(row * this.vocabSize, (row + 1) * this.vocabSize),
      logsumexp: logsumexp[row]!,
      mask: sequence.constrained ? matcher!.mask() : null,
      processors,
      sequence,
    };
    const sampled = sampleToken(input, sampling, random);
    if (sequence.constrained) matcher!.accept(sampled.tokenId);
    const finishReason = this.#finishReason(sequence, sampled.tokenId);
    if (constraint && sampled.tokenId === constraint.afterTokenId) sequence.constrained = true;
    const { prompt } = live;
    live.prompt = null;
    return { choiceIndex, ...sampled, finishReason, ...(prompt ? { prompt } : {}) };
  }

  #finishReason({ live, constrained, tokenCount, promptTokenCount }: Sequence, tokenId: number): FinishReason | null {
    const { stopTokenIds, maxTokens } = live.request.sampling;
    if (stopTokenIds.includes(tokenId)) return 'stop';
    if (constrained && this.#eosTokenIds.has(tokenId)) return 'stop'; // also where ends are ignored: nothing may follow
    return tokenCount + 1 - promptTokenCount >= maxTokens ? 'length' : null;
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

  /** Gives back all that the sequence holds; nothing happens the second time. */
  #end(sequence: Sequence, options?: { erase: boolean }): void {
    const { prefilling } = this.#queues;
    if (scheduler.remove(this.#queues, sequence) === 'gone') return;
    if (prefilling && this.#queues.prefilling === null && prefilling.slot)
      this.#cache.release(prefilling.slot, options);
    if (sequence.slot) this.#cache.release(sequence.slot, options);
    sequence.slot = null;
    sequence.matcher?.close();
    const { live } = sequence;
    live.openSequences--;
    if (live.openSequences > 0) return;
    this.#live.delete(live);
    if (live.request.adapter) this.#adapters.release(live.request.adapter.id);
  }

  /** A step failed, and with it the cache is in doubt: nobody goes on. */
  #failAll(error: unknown): void {
    const { waiting, prefilling, running } = this.#queues;
    if (!this.#closed) this.#log.error('step.failed', { error: String(error), sequences: running.length });
    const groups = prefilling ? [prefilling, ...waiting] : waiting;
    for (const sequence of [...running, ...groups.flatMap(({ sequences }) => sequences)]) {
      const failure =
        error instanceof AppError ? error : new AppError('engine_failed', 'The engine failed.', { cause: error });
      sequence.live.output.fail(failure);
      this.#end(sequence, { erase: true });
    }
    invariant(this.#live.size === 0, 'a request outlived its sequences');
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
      if (this.#closed || this.#leaving.size > 0) this.#wake();
    });
  }
}

function lastRow({ logits, logsumexp }: RunResult, vocab: number): Logits {
  if (logsumexp.length === 1) return { logits, logsumexp };
  return { logits: logits.slice(logits.length - vocab), logsumexp: logsumexp.slice(-1) };
}

/** Lets readers take their events, and messages arrive, before the next step blocks the thread. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
