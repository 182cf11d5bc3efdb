// The queues of sequences: waiting, prefilling, running. Moves sequences between them and keeps each queue in order of rank;
// scheduler.ts decides which move when.
import { invariant } from '#base/invariant';
import { findRoom } from '../../queue-room.ts';
import { compareRanks, type Rank } from '../../rank.ts';

/** One choice of a request, reduced to what scheduling needs. */
export interface Schedulable {
  /** The rank of its request. */
  readonly rank: Rank;
  readonly promptTokenCount: number;
  /** Prompt and completion. */
  readonly tokenCount: number;
  /** Tokens whose keys and values are in the cache. */
  readonly computedTokenCount: number;
  /** Its place in the cache; null while it waits. */
  readonly slot: { readonly capacity: number } | null;
  /** Its stream is not being read: other sequences may take its place, and it does not claim one. */
  readonly unread: boolean;
}

/** Sequences with one prompt, which is computed once for all of them. */
export interface PrefillGroup<S extends Schedulable> {
  readonly sequences: S[];
  /** Identifies the request: preempted choices of one request share a group again. */
  readonly rank: Rank;
  computedTokenCount: number;
  /** The slot where the prompt is being computed; null until its first chunk runs. */
  slot: S['slot'];
}

/** Each queue is ordered by rank. */
export interface Queues<S extends Schedulable> {
  readonly waiting: PrefillGroup<S>[];
  /** At most one prompt is partly computed. */
  prefilling: PrefillGroup<S> | null;
  running: S[];
  /** Prompt tokens computed since the last decode step. */
  prefillTokensSinceDecode: number;
}

export const createQueues = <S extends Schedulable>(): Queues<S> => ({
  waiting: [],
  prefilling: null,
  running: [],
  prefillTokensSinceDecode: 0,
});

export function usedTokens<S extends Schedulable>(queues: Queues<S>): number {
  return queues.running.reduce((sum, s) => sum + capacityOf(s), 0) + capacityOf(queues.prefilling);
}

export const capacityOf = (holder: Pick<Schedulable, 'slot'> | null): number => holder?.slot?.capacity ?? 0;

export function countWaiting<S extends Schedulable>(
  { waiting, prefilling }: Queues<S>,
  isCounted: (rank: Rank) => boolean = () => true,
): number {
  const all = prefilling ? [prefilling, ...waiting] : waiting;
  return all.reduce((sum, { rank, sequences }) => sum + (isCounted(rank) ? sequences.length : 0), 0);
}

/** Adds a new request to the queue. Throws `too_many_requests`. */
export function enqueue<S extends Schedulable>(queues: Queues<S>, sequences: S[], maxWaiting: number): void {
  const payer = sequences[0]?.rank.payer;
  const ofPayer = countWaiting(queues, (rank) => rank.payer === payer);
  findRoom(sequences.length, { all: countWaiting(queues), ofPayer }, maxWaiting);
  requeue(queues, sequences);
}

/** The plan's group leaves the queue for its first chunk. */
export function beginPrefill<S extends Schedulable>(queues: Queues<S>, group: PrefillGroup<S>): void {
  if (queues.prefilling === group) return;
  const at = queues.waiting.indexOf(group);
  invariant(queues.prefilling === null && at >= 0, 'two prompts would be computed at once');
  queues.waiting.splice(at, 1);
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

/** Sequences of one request join the queue at its rank, with nothing computed. Call for the last one first if several move. */
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

/** Removes the sequence from its queue. A group that loses its last sequence is removed too. */
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
