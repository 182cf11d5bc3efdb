// Carries out a plan of planStep: moves sequences between the queues, gives them places in the cache, runs the model, and stores
// what it computed. Yields the logits that tokens are sampled from; the caller samples and ends sequences before the next call of
// the model.
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '#base/log';
import { CLASSES_MAX } from '../models/class-attention.ts';
import type { AdapterStore } from './adapter-store.ts';
import { capacityFor, type KVCache } from './kv-cache.ts';
import type { ModelRunner, RunResult } from './model-runner.ts';
import { rowAt, type Logits } from './logits.ts';
import type { PrefixBlock, PrefixCache } from './prefix-cache.ts';
import { rankPromptToken } from './prompt-chunks.ts';
import type { FairRanks } from '../../rank.ts';
import * as queued from './queues.ts';
import { countStarts, type CacheBudget, type StepLimits, type StepPlan } from './scheduler.ts';
import type { LiveRequest, Sequence } from './sequence.ts';

/** Interval between checks for masks that are not ready, when no other sequence has anything to compute. */
const PARKED_MS = 1;

/** The parts of the engine that a step uses. */
export interface StepContext {
  readonly queues: queued.Queues<Sequence>;
  readonly ranks: FairRanks;
  readonly budget: CacheBudget;
  readonly limits: StepLimits;
  readonly runner: ModelRunner;
  /** Tokens of the tokenizer: at most the rows of the embedding. */
  readonly tokenCount: number;
  readonly cache: KVCache;
  readonly prefixes: PrefixCache;
  readonly adapters: AdapterStore;
  readonly log: Log;
}

/** Sequence i samples from row `rowOf(i)`. */
export interface SampleRows {
  readonly sequences: readonly Sequence[];
  readonly rowOf: (i: number) => number;
  readonly logits: Logits;
}

type Plan<Kind> = Extract<StepPlan<Sequence>, { kind: Kind }>;
type Group = queued.PrefillGroup<Sequence>;

export async function* applyPlan(
  context: StepContext,
  plan: Exclude<StepPlan<Sequence>, { kind: 'idle' }>,
): AsyncGenerator<SampleRows, void, undefined> {
  if (plan.kind === 'decode') {
    yield* decode(context, plan);
    return;
  }
  const started = await prefill(context, plan);
  if (started) yield started;
}

/** Null: part of the prompt is not computed yet. */
async function prefill(context: StepContext, plan: Plan<'prefill'>): Promise<SampleRows | null> {
  const { queues, ranks, runner, cache, prefixes, adapters } = context;
  const { group, start, end, capacity } = plan;
  const { live, tokens, promptTokenCount } = group.sequences[0]!;
  preempt(context, plan.preempted);
  if (group.slot === null) {
    queued.beginPrefill(queues, group);
    ranks.begin(group.rank);
    group.slot = cache.allocate(capacity);
    const last = reusePrefix(context, group);
    if (last) return group.computedTokenCount === promptTokenCount ? startSequences(context, group, last.end!) : null;
  }
  const adapterId = live.request.adapter?.id ?? null;
  const past = start === 0 ? null : cache.viewSlot(group.slot);
  const allLogits = live.prompt !== null && live.prompt.logprobs !== null;
  const input = { tokens: tokens.slice(start, end), start, past, adapterId, allLogits };
  const result = await runner.prefill(input, adapters.alone(adapterId));
  cache.append(group.slot, result.computed, 0);
  group.computedTokenCount = end;
  queues.prefillTokensSinceDecode += end - start;
  if (allLogits) rankPrompt(live, start, result, context.tokenCount);
  const last = lastRow(result);
  const isEnd = end === promptTokenCount;
  if (isEnd && live.prompt && live.request.embed) live.prompt.lastHidden = lastHiddenOf(result);
  const { key } = live.chunks.find((chunk) => chunk.end === end)!;
  prefixes.put(key, { computed: result.computed, end: isEnd ? last : null });
  return isEnd ? startSequences(context, group, last) : null;
}

/** Copies the prompt's cached prefix; returns its last block, or null if nothing is cached. A fully cached prompt needs no model. */
function reusePrefix({ cache, prefixes }: StepContext, group: Group): PrefixBlock | null {
  const { live, promptTokenCount } = group.sequences[0]!;
  if (live.prompt?.logprobs || live.request.embed) return null; // needs logits or states, and those are not cached
  let last: PrefixBlock | null = null;
  for (const { end, key } of live.chunks) {
    const block = prefixes.find(key);
    if (!block || (end === promptTokenCount && block.end === null)) break;
    cache.append(group.slot!, block.computed, 0);
    group.computedTokenCount = end;
    last = block;
  }
  if (last && live.prompt) live.prompt.cachedTokenCount = group.computedTokenCount;
  return last;
}

/** Row i of a chunk's logits predicts the token after it. */
function rankPrompt({ prompt, request }: LiveRequest, start: number, logits: Logits, tokenCount: number): void {
  const { promptTokens, sampling } = request;
  if (start === 0) prompt!.logprobs!.splice(0, Infinity, null);
  for (let row = 0; row < logits.logsumexp.length; row++) {
    const tokenId = promptTokens[start + row + 1];
    if (tokenId === undefined) return;
    prompt!.logprobs!.push(rankPromptToken(logits, row, tokenCount, tokenId, sampling.promptLogprobs!));
  }
}

/** The prompt is computed: its choices get their copies of the cache and sample from its last row. */
function startSequences({ queues, budget, limits, cache }: StepContext, group: Group, last: Logits): SampleRows {
  const { slot } = group;
  const count = countStarts(queues, group, budget, limits);
  const sequences = queued.finishPrefill(queues, group, count);
  sequences.forEach((sequence, i) => {
    sequence.slot = i === 0 ? slot : cache.fork(slot!);
    sequence.computedTokenCount = sequence.promptTokenCount;
  });
  for (const sequence of sequences) cache.activate(sequence.slot!);
  return { sequences, rowOf: () => 0, logits: last };
}

/** Calls the model once per set of CLASSES_MAX capacity classes: usually once, more often only for unusual mixtures of lengths. */
async function* decode(context: StepContext, plan: Plan<'decode'>): AsyncGenerator<SampleRows, void, undefined> {
  const { queues, budget, cache } = context;
  if (plan.preemptPrefill) dropPrefill(context);
  preempt(context, plan.preempted);
  queues.prefillTokensSinceDecode = 0;
  if (plan.sequences.every(({ parked }) => parked !== null)) return void (await delay(PARKED_MS));
  for (const sequence of plan.sequences) {
    const capacity = capacityFor(budget.classes, sequence.computedTokenCount + 1);
    if (sequence.slot!.capacity < capacity) sequence.slot = cache.grow(sequence.slot!, capacity);
  }
  const classes = budget.classes
    .map((capacity) => plan.sequences.filter(({ slot }) => slot!.capacity === capacity))
    .filter((batch) => batch.length > 0);
  for (let c = 0; c < classes.length; c += CLASSES_MAX)
    yield await decodeTogether(context, classes.slice(c, c + CLASSES_MAX));
}

/**
 * By capacity class: all sequences that decode in it, because a view consists of the first slots of a class. Parked sequences only
 * keep their place: what is computed in their rows is discarded.
 */
async function decodeTogether(
  { runner, cache, adapters }: StepContext,
  classes: readonly Sequence[][],
): Promise<SampleRows> {
  for (const batch of classes) batch.sort((a, b) => a.slot!.index - b.slot!.index);
  const sequences = classes.flat();
  const adapterIds = sequences.map(({ live }) => live.request.adapter?.id ?? null);
  const input = {
    tokens: sequences.map(({ tokens, computedTokenCount }) => tokens[computedTokenCount] ?? tokens.at(-1)!),
    positions: sequences.map((sequence) => sequence.computedTokenCount),
    past: classes.map((own) => cache.viewFirst(own[0]!.slot!.capacity, own.length)),
    adapterIds,
  };
  const result = await runner.decode(input, adapters.fused(adapterIds));
  sequences.forEach((sequence, row) => {
    if (sequence.parked) return;
    cache.append(sequence.slot!, result.computed, row);
    sequence.computedTokenCount++;
  });
  return { sequences, rowOf: (i) => i, logits: result };
}

function dropPrefill({ queues, cache }: StepContext): void {
  const { prefilling } = queues;
  queues.prefilling = null;
  cache.release(prefilling!.slot!);
  queued.requeue(queues, prefilling!.sequences);
}

function preempt({ queues, cache, log }: StepContext, preempted: readonly Sequence[]): void {
  for (const sequence of preempted.toReversed()) {
    queued.remove(queues, sequence);
    cache.release(sequence.slot!);
    sequence.slot = null;
    sequence.computedTokenCount = 0;
    sequence.parked = null; // computed again with the others
    queued.requeue(queues, [sequence]);
    const { requestId } = sequence.live.request;
    log.debug('sequence.preempted', { requestId, tokens: sequence.tokenCount });
  }
}

function lastHiddenOf({ hidden, logsumexp }: RunResult): readonly number[] {
  return Array.from(hidden.subarray(hidden.length - hidden.length / logsumexp.length));
}

function lastRow({ logits, logsumexp, maxima, sums }: RunResult): Logits {
  const all = { logits, logsumexp, maxima, sums };
  return logsumexp.length === 1 ? all : rowAt(all, logsumexp.length - 1);
}
