// What the next EngineStep runs: planStep is pure and can be printed; the functions below it move sequences between the
// queues. Knows token counts and cache capacities; knows no tensors. Requests have a rank from the moment they arrive
// (rank.ts); the best one that waits begins next, the last one that runs is preempted, and the first never is.
//
// A preempted sequence computes its prompt again by prefill and its completion again by decode, the way it was computed
// before, so that it goes on with the same bits (prefill and decode use different kernels).
import { AppError } from '#domain/errors';
import { invariant } from '#base/invariant';
import { capacityFor } from './kv-cache.ts';
import { compareRanks, type Rank } from './rank.ts';

/** One choice of a request, as far as scheduling goes. */
export interface Schedulable {
  /** Its request's. */
  readonly rank: Rank;
  readonly promptTokenCount: number;
  /** Prompt and completion. */
  readonly tokenCount: number;
  /** Tokens whose keys and values are in the cache. */
  readonly computedTokenCount: number;
  /** Its place in the cache; null while it waits. */
  readonly slot: { readonly capacity: number } | null;
}

/** Sequences with one prompt, which is computed once for all of them. */
export interface PrefillGroup<S extends Schedulable> {
  readonly sequences: S[];
  /** Tells requests apart: preempted choices of one request share a group again. */
  readonly rank: Rank;
  computedTokenCount: number;
  /** Where the prompt is being computed; null until its first chunk runs. */
  slot: S['slot'];
}

/** By rank, each of them. */
export interface Queues<S extends Schedulable> {
  readonly waiting: PrefillGroup<S>[];
  /** At most one prompt is half computed. */
  prefilling: PrefillGroup<S> | null;
  running: S[];
  /** Prompt tokens computed since the last decode step. */
  prefillTokensSinceDecode: number;
}

export interface StepLimits {
  /** Sequences that decode at once: bounds the latency of a step. */
  readonly maxRunning: number;
  /** Sequences that may wait: bounds memory and the age of an answer. */
  readonly maxWaiting: number;
  /** Chunks end at multiples of this, so that chunking depends on the prompt alone; bounds how long decodes stall. */
  readonly prefillChunk: number;
  /** Prompt tokens that may run before sequences that already decode get their turn. */
  readonly prefillTokensPerDecode: number;
}

export interface CacheBudget {
  readonly classes: readonly number[];
  /** Tokens that all slots together may hold; at least one whole context. */
  readonly tokens: number;
}

export type StepPlan<S extends Schedulable> =
  | { kind: 'idle' }
  | { kind: 'prefill'; group: PrefillGroup<S>; start: number; end: number; capacity: number }
  /** Every running sequence that is not preempted. */
  | { kind: 'decode'; sequences: S[]; preempted: S[]; preemptPrefill: boolean };

export const createQueues = <S extends Schedulable>(): Queues<S> => ({
  waiting: [],
  prefilling: null,
  running: [],
  prefillTokensSinceDecode: 0,
});

/** Prefill first, so that new requests see a token soon and batches fill; decodes get their turn. Changes nothing. */
export function planStep<S extends Schedulable>(
  queues: Queues<S>,
  budget: CacheBudget,
  limits: StepLimits,
): StepPlan<S> {
  const decodesAreDue = queues.running.length > 0 && queues.prefillTokensSinceDecode >= limits.prefillTokensPerDecode;
  if (!decodesAreDue) {
    const chunk = planChunk(queues, budget, limits);
    if (chunk) return chunk;
  }
  if (queues.running.length > 0) return planDecode(queues, budget);
  invariant(queues.prefilling === null && queues.waiting.length === 0, 'nothing runs, yet nothing fits the cache');
  return { kind: 'idle' };
}

function planChunk<S extends Schedulable>(
  queues: Queues<S>,
  budget: CacheBudget,
  limits: StepLimits,
): StepPlan<S> | null {
  const group = queues.prefilling ?? admissible(queues, budget, limits);
  if (!group) return null;
  const start = group.computedTokenCount;
  const boundary = (Math.floor(start / limits.prefillChunk) + 1) * limits.prefillChunk;
  const end = Math.min(boundary, promptTokenCount(group));
  const capacity = capacityFor(budget.classes, end);
  if (usedTokens(queues) - capacityOf(group) + capacity > budget.tokens) return null;
  return { kind: 'prefill', group, start, end, capacity };
}

/** The first waiting group, if all its choices can start to run; or whatever its size, if nothing else runs. */
function admissible<S extends Schedulable>(
  queues: Queues<S>,
  budget: CacheBudget,
  limits: StepLimits,
): PrefillGroup<S> | null {
  const group = queues.waiting[0];
  if (!group) return null;
  if (queues.running.length === 0) return group;
  const choices = group.sequences.length;
  const capacity = capacityFor(budget.classes, promptTokenCount(group) + 1);
  const fits = usedTokens(queues) + choices * capacity <= budget.tokens;
  return fits && queues.running.length + choices <= limits.maxRunning ? group : null;
}

/** Room for one more token each; when it is short, the last give theirs up. */
function planDecode<S extends Schedulable>(queues: Queues<S>, budget: CacheBudget): StepPlan<S> {
  const needs = queues.running.map((s) =>
    Math.max(capacityOf(s), capacityFor(budget.classes, s.computedTokenCount + 1)),
  );
  let needed = needs.reduce((a, b) => a + b, 0);
  const preemptPrefill = needed + capacityOf(queues.prefilling) > budget.tokens && queues.prefilling !== null;
  let kept = needs.length;
  while (needed > budget.tokens) needed -= needs[--kept]!;
  invariant(kept > 0, 'the cache does not hold one sequence');
  return {
    kind: 'decode',
    sequences: queues.running.slice(0, kept),
    preempted: queues.running.slice(kept),
    preemptPrefill,
  };
}

/** How many of a group's sequences can start to decode once its prompt is computed; at least one. */
export function countStarts<S extends Schedulable>(
  queues: Queues<S>,
  group: PrefillGroup<S>,
  budget: CacheBudget,
  limits: StepLimits,
): number {
  const spare = Math.floor((budget.tokens - usedTokens(queues)) / capacityOf(group));
  return Math.max(1, Math.min(group.sequences.length, 1 + spare, limits.maxRunning - queues.running.length));
}

export function usedTokens<S extends Schedulable>(queues: Queues<S>): number {
  return queues.running.reduce((sum, s) => sum + capacityOf(s), 0) + capacityOf(queues.prefilling);
}

const capacityOf = (holder: Pick<Schedulable, 'slot'> | null): number => holder?.slot?.capacity ?? 0;

export const countWaiting = <S extends Schedulable>({ waiting, prefilling }: Queues<S>): number =>
  waiting.reduce((sum, { sequences }) => sum + sequences.length, prefilling?.sequences.length ?? 0);

const promptTokenCount = <S extends Schedulable>(group: PrefillGroup<S>): number =>
  group.sequences[0]!.promptTokenCount;

/** A new request takes its place in the line, if the line is not full. */
export function enqueue<S extends Schedulable>(queues: Queues<S>, sequences: S[], { maxWaiting }: StepLimits): void {
  const waiting = countWaiting(queues);
  if (waiting + sequences.length > maxWaiting) {
    throw new AppError(
      'too_many_requests',
      `The queue is full: ${waiting} of at most ${maxWaiting} choices wait. Try again later.`,
      {
        retryAfterSeconds: 5,
      },
    );
  }
  requeue(queues, sequences);
}

/** The plan's group leaves the line for its first chunk. */
export function beginPrefill<S extends Schedulable>(queues: Queues<S>, group: PrefillGroup<S>): void {
  if (queues.prefilling === group) return;
  invariant(queues.prefilling === null && queues.waiting[0] === group, 'a group jumped the line');
  queues.waiting.shift();
  queues.prefilling = group;
}

/** The prompt is computed: the first `starts` sequences run, the others wait again. */
export function finishPrefill<S extends Schedulable>(queues: Queues<S>, group: PrefillGroup<S>, starts: number): S[] {
  invariant(queues.prefilling === group, 'this group was not being computed');
  queues.prefilling = null;
  const started = group.sequences.slice(0, starts);
  queues.running = [...queues.running, ...started].sort((a, b) => compareRanks(a.rank, b.rank)); // stable: choices in order
  requeue(queues, group.sequences.slice(starts));
  return started;
}

/** Sequences of one request join the line at its rank, with nothing computed. Last first, when several go. */
export function requeue<S extends Schedulable>(queues: Queues<S>, sequences: readonly S[]): void {
  if (sequences.length === 0) return;
  const { rank } = sequences[0]!;
  const at = queues.waiting.findIndex((group) => compareRanks(group.rank, rank) >= 0);
  const next = at < 0 ? undefined : queues.waiting[at];
  if (next && next.rank.number === rank.number) next.sequences.unshift(...sequences);
  else
    queues.waiting.splice(at < 0 ? queues.waiting.length : at, 0, {
      rank,
      sequences: [...sequences],
      computedTokenCount: 0,
      slot: null,
    });
}

/** Wherever the sequence is. A group that loses its last sequence goes too. */
export function remove<S extends Schedulable>(
  queues: Queues<S>,
  sequence: S,
): 'running' | 'prefilling' | 'waiting' | 'gone' {
  const index = queues.running.indexOf(sequence);
  if (index >= 0) {
    queues.running.splice(index, 1);
    return 'running';
  }
  for (const group of queues.prefilling ? [queues.prefilling, ...queues.waiting] : queues.waiting) {
    const at = group.sequences.indexOf(sequence);
    if (at < 0) continue;
    group.sequences.splice(at, 1);
    if (group.sequences.length > 0) return group === queues.prefilling ? 'prefilling' : 'waiting';
    if (group === queues.prefilling) {
      queues.prefilling = null;
      return 'prefilling';
    }
    queues.waiting.splice(queues.waiting.indexOf(group), 1);
    return 'waiting';
  }
  return 'gone';
}
