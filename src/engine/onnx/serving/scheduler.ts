// What the next EngineStep runs: planStep is pure and can be printed, applyPlan (apply-plan.ts) acts on it. Knows token counts
// and cache capacities; knows no tensors. Requests have a rank from the moment they arrive (engine/rank.ts). The best-ranked one
// of the payer that holds least starts next, and takes places from payers that hold more and from streams that are not being read
// (shares.ts). The first running sequence is never preempted, unless its stream is not being read.
//
// A preempted sequence computes its prompt again by prefill and its completion again by decode, as it did the first
// time, so that it continues with the same bits (prefill and decode use different kernels).
import { invariant } from '#base/invariant';
import type { Rank } from '../../rank.ts';
import { capacityFor } from './kv-cache.ts';
import { capacityOf, usedTokens, type PrefillGroup, type Queues, type Schedulable } from './queues.ts';
import { createShares, findGiver, findLeast, type Holder, type Places, type Shares } from './shares.ts';

export interface StepLimits {
  /** Sequences that decode at once: bounds the latency of a step. */
  readonly maxRunning: number;
  /** Sequences that may wait: bounds memory and the age of an answer. */
  readonly maxWaiting: number;
  /** Chunks end at multiples of this, so that chunking depends on the prompt alone; bounds how long decodes stall. */
  readonly prefillChunk: number;
  /** Prompt tokens that may run before sequences that already decode get a step. */
  readonly prefillTokensPerDecode: number;
}

export interface CacheBudget {
  readonly classes: readonly number[];
  /** Tokens that all slots together may hold; at least one whole context. */
  readonly tokens: number;
}

export type StepPlan<S extends Schedulable> =
  | { kind: 'idle' }
  /** First makes room for the prompt, by preempting these. */
  | { kind: 'prefill'; group: PrefillGroup<S>; start: number; end: number; capacity: number; preempted: S[] }
  /** Every running sequence that is not preempted. */
  | { kind: 'decode'; sequences: S[]; preempted: S[]; preemptPrefill: boolean };

/** Prefill first, so that new requests see a token soon and batches fill; decode steps come between. Pure. */
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
  if (queues.running.length > 0) return planDecode(queues, budget, limits);
  const isStuck = queues.prefilling !== null || queues.waiting.some((group) => !isUnread(group));
  invariant(!isStuck, 'nothing runs, yet nothing fits the cache');
  return { kind: 'idle' };
}

function planChunk<S extends Schedulable>(
  queues: Queues<S>,
  budget: CacheBudget,
  limits: StepLimits,
): StepPlan<S> | null {
  const group = queues.prefilling ?? nextGroup(queues, budget, limits);
  if (!group) return null;
  const room = queues.prefilling === null ? createRoom(queues, budget, limits) : null; // made before the first chunk of a prompt
  if (room && !makeStarts(queues, group, room, budget)) return null;
  const start = group.computedTokenCount;
  const boundary = (Math.floor(start / limits.prefillChunk) + 1) * limits.prefillChunk;
  const end = Math.min(boundary, promptTokenCount(group));
  return {
    kind: 'prefill',
    group,
    start,
    end,
    capacity: startCapacity(group, budget),
    preempted: room?.preempted() ?? [],
  };
}

/** Returns, among the most urgent requests, the first one of the payer that holds the least. */
function nextGroup<S extends Schedulable>(
  queues: Queues<S>,
  budget: CacheBudget,
  limits: StepLimits,
): PrefillGroup<S> | null {
  const read = queues.waiting.filter((group) => !isUnread(group));
  const urgent = read.filter(({ rank }) => rank.priority === read[0]!.rank.priority);
  const shares = sharesOf(queues, budget, limits);
  const least = Math.min(...urgent.map(({ rank }) => shares.of(rank.payer)));
  return urgent.find(({ rank }) => shares.of(rank.payer) === least) ?? null;
}

/**
 * Room for the group's choices to start: all of them, because one prefill serves them all; as many as its payer's share allows
 * if other payers hold the rest; and whatever its size if nothing else runs.
 */
function makeStarts<S extends Schedulable>(
  { running }: Queues<S>,
  { sequences, rank }: PrefillGroup<S>,
  room: Room<S>,
  budget: CacheBudget,
): boolean {
  const tokens = startCapacity({ sequences }, budget);
  let starts = 0;
  while (starts < sequences.length && room.make(rank, { slots: 1, tokens })) starts++;
  if (starts === sequences.length || running.length === 0) return true;
  return starts > 0 && running.some((other) => other.rank.payer !== rank.payer);
}

interface Room<S> {
  /** Takes from what is free, then from those that must give up. False: there is not enough, and nothing more can be taken. */
  make(taker: Rank, places: Places): boolean;
  /** In order of rank. */
  preempted(): S[];
}

function createRoom<S extends Schedulable>(queues: Queues<S>, budget: CacheBudget, limits: StepLimits): Room<S> {
  let holders: readonly SequenceHolder<S>[] = queues.running.map(holderOf);
  const shares = sharesOf(queues, budget, limits);
  const free = { slots: limits.maxRunning - queues.running.length, tokens: budget.tokens - usedTokens(queues) };
  const preempted = new Set<S>();
  return {
    make(taker, { slots, tokens }) {
      shares.take(taker.payer, { slots, tokens });
      const givers: S[] = [];
      while (free.slots < slots || free.tokens < tokens) {
        const giver = findGiver(holders, shares, taker);
        if (!giver) return false;
        shares.giveUp(giver);
        holders = holders.filter((other) => other !== giver);
        free.slots++;
        free.tokens += giver.tokens;
        givers.push(giver.sequence);
      }
      free.slots -= slots;
      free.tokens -= tokens;
      for (const giver of givers) preempted.add(giver);
      return true;
    },
    preempted: () => queues.running.filter((sequence) => preempted.has(sequence)),
  };
}

/** Reserves room for one more token each; if it is short, those that hold most give up their places. */
function planDecode<S extends Schedulable>(queues: Queues<S>, budget: CacheBudget, limits: StepLimits): StepPlan<S> {
  const { running, prefilling } = queues;
  const needs = running.map((sequence) => {
    const capacity = capacityFor(budget.classes, sequence.computedTokenCount + 1);
    return { ...holderOf(sequence), tokens: Math.max(capacityOf(sequence), capacity) };
  });
  const prompt = prefilling && { sequence: null, rank: prefilling.rank, unread: false, tokens: capacityOf(prefilling) };
  const first = needs.find(({ unread }) => !unread) ?? needs[0];
  let holders: readonly (SequenceHolder<S> | NonNullable<typeof prompt>)[] = [...needs, ...(prompt ? [prompt] : [])];
  let needed = holders.reduce((sum, { tokens }) => sum + tokens, 0);
  const shares = createShares({ slots: limits.maxRunning, tokens: budget.tokens }, holders);
  while (needed > budget.tokens) {
    const least = findLeast(
      holders.filter((holder) => holder !== first),
      shares,
    );
    invariant(least, 'the cache does not hold one sequence');
    shares.giveUp(least);
    holders = holders.filter((holder) => holder !== least);
    needed -= least.tokens;
  }
  const kept = new Set(holders.map(({ sequence }) => sequence));
  return {
    kind: 'decode',
    sequences: running.filter((sequence) => kept.has(sequence)),
    preempted: running.filter((sequence) => !kept.has(sequence)),
    preemptPrefill: prompt !== null && !kept.has(null),
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

interface SequenceHolder<S> extends Holder {
  readonly sequence: S;
}

const holderOf = <S extends Schedulable>(sequence: S): SequenceHolder<S> => ({
  sequence,
  rank: sequence.rank,
  unread: sequence.unread,
  tokens: capacityOf(sequence),
});

function sharesOf<S extends Schedulable>(
  { running, prefilling }: Queues<S>,
  budget: CacheBudget,
  limits: StepLimits,
): Shares {
  const shares = createShares({ slots: limits.maxRunning, tokens: budget.tokens }, running.map(holderOf));
  if (prefilling) shares.take(prefilling.rank.payer, { slots: 1, tokens: capacityOf(prefilling) });
  return shares;
}

const isUnread = <S extends Schedulable>({ sequences }: PrefillGroup<S>): boolean => sequences[0]!.unread;

/** What a choice needs to start; its prompt has it from the first chunk on. */
const startCapacity = <S extends Schedulable>(group: Pick<PrefillGroup<S>, 'sequences'>, budget: CacheBudget): number =>
  capacityFor(budget.classes, promptTokenCount(group) + 1);

const promptTokenCount = <S extends Schedulable>({ sequences }: Pick<PrefillGroup<S>, 'sequences'>): number =>
  sequences[0]!.promptTokenCount;
