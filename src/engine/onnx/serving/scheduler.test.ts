import { expect, test } from 'vitest';
import fc from 'fast-check';
import { capacityClasses, capacityFor } from './kv-cache.ts';
import { compareRanks, createFairRanks, type Rank } from '../../rank.ts';
import * as queued from './queues.ts';
import * as scheduler from './scheduler.ts';

interface Sim {
  rank: Rank;
  promptTokenCount: number;
  tokenCount: number;
  computedTokenCount: number;
  slot: { capacity: number } | null;
  unread: boolean;
  maxTokens: number;
  ends: ('finished' | 'cancelled')[];
}

const limits: scheduler.StepLimits = { maxRunning: 6, maxWaiting: 40, prefillChunk: 32, prefillTokensPerDecode: 64 };
const contextLength = 256;
const budget: scheduler.CacheBudget = { classes: capacityClasses(contextLength), tokens: 448 };

function request(rank: Rank | number, n: number, promptTokenCount: number, maxTokens: number): Sim[] {
  return Array.from({ length: n }, () => ({
    rank: typeof rank === 'number' ? { priority: 0, startTag: 0, number: rank, payer: '' } : rank,
    promptTokenCount,
    tokenCount: promptTokenCount,
    computedTokenCount: 0,
    slot: null,
    unread: false,
    maxTokens,
    ends: [],
  }));
}

/** Does to the queues what the engine does, with capacities instead of tensors. */
function applyPlan(queues: queued.Queues<Sim>, plan: scheduler.StepPlan<Sim>): void {
  if (plan.kind === 'idle') return;
  if (plan.kind === 'prefill') {
    const { group, start, end, capacity } = plan;
    preempt(queues, plan.preempted);
    queued.beginPrefill(queues, group);
    group.slot = { capacity };
    group.computedTokenCount = end;
    queues.prefillTokensSinceDecode += end - start;
    if (end < group.sequences[0]!.promptTokenCount) return;
    const started = queued.finishPrefill(queues, group, scheduler.countStarts(queues, group, budget, limits));
    for (const s of started) {
      s.slot = { capacity };
      s.computedTokenCount = end;
      if (s.tokenCount === end) produce(queues, s);
    }
    return;
  }
  const { prefilling } = queues;
  if (plan.preemptPrefill) {
    queues.prefilling = null;
    queued.requeue(queues, prefilling!.sequences);
  }
  preempt(queues, plan.preempted);
  queues.prefillTokensSinceDecode = 0;
  for (const s of plan.sequences) {
    s.computedTokenCount++;
    s.slot = { capacity: Math.max(s.slot!.capacity, capacityFor(budget.classes, s.computedTokenCount)) };
  }
  expect(queued.usedTokens(queues)).toBeLessThanOrEqual(budget.tokens);
  for (const s of plan.sequences) if (s.computedTokenCount === s.tokenCount) produce(queues, s);
}

function preempt(queues: queued.Queues<Sim>, preempted: readonly Sim[]): void {
  for (const s of preempted.toReversed()) {
    queued.remove(queues, s);
    s.slot = null;
    s.computedTokenCount = 0;
    queued.requeue(queues, [s]);
  }
}

function produce(queues: queued.Queues<Sim>, s: Sim): void {
  s.tokenCount++;
  if (s.tokenCount < s.promptTokenCount + s.maxTokens) return;
  s.ends.push('finished');
  queued.remove(queues, s);
  s.slot = null;
}

function run(queues: queued.Queues<Sim>, steps: number): scheduler.StepPlan<Sim>[] {
  const plans: scheduler.StepPlan<Sim>[] = [];
  for (let i = 0; i < steps; i++) {
    const plan = scheduler.planStep(queues, budget, limits);
    plans.push(plan);
    applyPlan(queues, plan);
  }
  return plans;
}

test('an empty engine is idle', () => {
  expect(scheduler.planStep(queued.createQueues<Sim>(), budget, limits)).toEqual({ kind: 'idle' });
});

test('a prompt is computed in chunks that end at multiples of the chunk size, in a place that its first token fits in', () => {
  const queues = queued.createQueues<Sim>();
  queued.enqueue(queues, request(1, 1, 70, 2), limits.maxWaiting);
  const chunks = run(queues, 3).map((plan) => plan.kind === 'prefill' && [plan.start, plan.end, plan.capacity]);
  expect(chunks).toEqual([
    [0, 32, 128],
    [32, 64, 128],
    [64, 70, 128],
  ]);
});

test('the choices of a request start together from one prefill', () => {
  const queues = queued.createQueues<Sim>();
  queued.enqueue(queues, request(1, 4, 10, 5), limits.maxWaiting);
  const [prefill, decode] = run(queues, 2);
  expect(prefill).toMatchObject({ kind: 'prefill', start: 0, end: 10 });
  expect(decode).toMatchObject({ kind: 'decode', preempted: [] });
  expect(decode?.kind === 'decode' && decode.sequences).toHaveLength(4);
});

test('sequences that decode run between the prompts of a crowd', () => {
  const queues = queued.createQueues<Sim>();
  for (let i = 0; i < 6; i++) queued.enqueue(queues, request(i, 1, 30, 50), limits.maxWaiting);
  const kinds = run(queues, 8).map((plan) => plan.kind);
  expect(kinds).toEqual(['prefill', 'prefill', 'prefill', 'decode', 'prefill', 'prefill', 'prefill', 'decode']);
});

test('the newest sequence gives up its place when the cache is full, and the oldest never does', () => {
  const queues = queued.createQueues<Sim>();
  for (let i = 0; i < 4; i++) queued.enqueue(queues, request(i, 1, 60, 100), limits.maxWaiting);
  const preempted = run(queues, 500).flatMap((plan) => (plan.kind === 'decode' ? plan.preempted : []));
  expect(preempted.length).toBeGreaterThan(0);
  expect(preempted.every((s) => s.rank.number > 0)).toBe(true);
});

test('a payer who has filled the queue is refused, and another one still finds room', () => {
  const queues = queued.createQueues<Sim>();
  const enqueue = (payer: string, number: number, n: number) =>
    queued.enqueue(queues, request({ priority: 0, startTag: 0, number, payer }, n, 5, 5), limits.maxWaiting);
  enqueue('greedy', 1, 30);
  expect(() => enqueue('greedy', 2, 1)).toThrow(expect.objectContaining({ code: 'too_many_requests' }));
  enqueue('modest', 3, 8);
  expect(queued.countWaiting(queues)).toBe(38);
  expect(() => enqueue('modest', 4, 4)).toThrow(expect.objectContaining({ code: 'too_many_requests' }));
});

test('a payer with one request does not wait for the backlog of another', () => {
  const queues = queued.createQueues<Sim>();
  const ranks = createFairRanks();
  const arrive = (payer: string) => {
    const sequences = request(ranks.assign({ priority: 0, payer, size: 1 }), 1, 10, 5);
    queued.enqueue(queues, sequences, limits.maxWaiting);
    return sequences[0]!;
  };
  const backlog = Array.from({ length: 30 }, () => arrive('greedy'));
  for (let i = 0; i < 12; i++) {
    const plan = scheduler.planStep(queues, budget, limits);
    if (plan.kind === 'prefill') ranks.begin(plan.group.rank);
    applyPlan(queues, plan);
  }
  const modest = arrive('modest');
  while (modest.ends.length === 0) run(queues, 1);
  expect(backlog.filter(({ ends }) => ends.length > 0).length).toBeLessThan(15);
});

test('a smaller priority goes before an earlier arrival, whoever pays', () => {
  const ranks = createFairRanks();
  const [early, late, urgent] = [0, 0, -1].map((priority) => ranks.assign({ priority, payer: 'a', size: 3 }));
  expect([early, late, urgent].toSorted((a, b) => compareRanks(a!, b!))).toEqual([urgent, early, late]);
});

/** Requests of several payers, and how many each has running. */
function batchOf() {
  const stepLimits = { ...limits, prefillTokensPerDecode: Infinity };
  const queues = queued.createQueues<Sim>();
  const ranks = createFairRanks();
  const preempted: Sim[] = [];
  const step = (): scheduler.StepPlan<Sim> => {
    const plan = scheduler.planStep(queues, budget, stepLimits);
    if (plan.kind === 'prefill') ranks.begin(plan.group.rank);
    if (plan.kind !== 'idle') preempted.push(...plan.preempted);
    applyPlan(queues, plan);
    return plan;
  };
  return {
    queues,
    preempted,
    step,
    arrive: (payer: string, n: number, { maxTokens = 50, priority = 0, promptTokenCount = 10 } = {}): Sim[] => {
      const sequences = request(ranks.assign({ priority, payer, size: n }), n, promptTokenCount, maxTokens);
      queued.enqueue(queues, [...sequences], stepLimits.maxWaiting);
      return sequences;
    },
    /** Until no more requests start. */
    settle: (): void => {
      while (step().kind === 'prefill');
    },
    running: () => countBy(queues.running, ({ rank }) => rank.payer),
  };
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}

test('a payer who fills the batch yields a slot to a new payer, from the request that started last', () => {
  const { arrive, settle, running, preempted } = batchOf();
  arrive('greedy', 4);
  const [, last] = arrive('greedy', 2);
  settle();
  expect(running()).toEqual({ greedy: 6 });
  arrive('modest', 1);
  settle();
  expect(running()).toEqual({ greedy: 5, modest: 1 });
  expect(preempted).toEqual([last]);
});

test('payers who all want the batch hold equal shares of it, and slots do not move back and forth', () => {
  const { arrive, settle, step, running, preempted } = batchOf();
  for (const [payer, counts] of [
    ['a', { a: 6 }],
    ['b', { a: 3, b: 3 }],
    ['c', { a: 2, b: 2, c: 2 }],
  ] as const) {
    arrive(payer, 6);
    arrive(payer, 6);
    settle();
    expect(running()).toEqual(counts);
  }
  const count = preempted.length;
  for (let i = 0; i < 30; i++) step();
  expect(preempted).toHaveLength(count);
});

test('a preempted sequence returns when the others are done', () => {
  const { arrive, settle, step, running, queues } = batchOf();
  const greedy = arrive('greedy', 6);
  settle();
  const modest = arrive('modest', 3, { maxTokens: 5 });
  settle();
  while (modest.some(({ ends }) => ends.length === 0)) step();
  settle();
  expect(running()).toEqual({ greedy: 6 });
  while (queues.running.length > 0) step();
  for (const { tokenCount } of greedy) expect(tokenCount).toBe(60);
});

test('a payer whose sequences are long gives up parts of the cache', () => {
  const { arrive, settle, running } = batchOf();
  for (let i = 0; i < 3; i++) arrive('greedy', 1, { promptTokenCount: 120, maxTokens: 8 }); // 384 of 448 tokens
  settle();
  arrive('modest', 1, { promptTokenCount: 70 });
  settle();
  expect(running()).toEqual({ greedy: 2, modest: 1 });
});

test('the last sequence of a payer is not taken, however long it is', () => {
  const { arrive, settle, running } = batchOf();
  arrive('a', 1, { promptTokenCount: 200 });
  settle();
  arrive('b', 1, { promptTokenCount: 200 });
  settle();
  expect(running()).toEqual({ a: 1 });
});

test('urgent sequences do not yield to less urgent ones', () => {
  const { arrive, settle, running } = batchOf();
  arrive('urgent', 6, { priority: -1 });
  settle();
  arrive('modest', 1);
  settle();
  expect(running()).toEqual({ urgent: 6 });
});

test('a stream that is not being read yields its slots to a waiting request, even of the same payer, and continues when it is read', () => {
  const { arrive, settle, step, running, queues } = batchOf();
  const unread = arrive('a', 6);
  settle();
  for (const sequence of unread) sequence.unread = true;
  settle();
  expect(running(), 'nobody waits').toEqual({ a: 6 });
  const read = arrive('a', 6, { maxTokens: 5 });
  settle();
  expect(queues.running).toEqual(read);
  while (step().kind !== 'idle');
  expect(queues.running, 'nobody reads what waits').toEqual([]);
  for (const sequence of unread) sequence.unread = false;
  while (step().kind !== 'idle');
  for (const { ends } of [...unread, ...read]) expect(ends).toEqual(['finished']);
});

test('whatever requests come and go, no payer waits while another holds two places more', () => {
  const small = fc.record({
    payer: fc.constantFrom('a', 'a', 'a', 'b', 'c'),
    n: fc.integer({ min: 1, max: 9 }),
    maxTokens: fc.integer({ min: 1, max: 40 }),
    steps: fc.integer({ min: 0, max: 12 }),
  });
  fc.assert(
    fc.property(fc.array(small, { maxLength: 30 }), (arrivals) => {
      const { arrive, step, queues, running } = batchOf();
      for (const { payer, n, maxTokens, steps } of arrivals) {
        if (queues.waiting.length < 4) arrive(payer, n, { maxTokens });
        for (let i = 0; i < steps; i++) {
          const before = running();
          const waiting = queues.waiting.map(({ rank }) => rank.payer);
          if (step().kind !== 'decode') continue;
          const most = Math.max(...Object.values(before));
          for (const payer of waiting) expect(most - (before[payer] ?? 0)).toBeLessThan(2);
        }
      }
    }),
    { seed: 19, numRuns: 100 },
  );
});

type Event =
  | { kind: 'arrive'; priority: number; payer: string; n: number; promptTokenCount: number; maxTokens: number }
  | { kind: 'cancel'; pick: number }
  | { kind: 'read'; pick: number; unread: boolean }
  | { kind: 'steps'; count: number };

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.record({
    kind: fc.constant('arrive' as const),
    priority: fc.constantFrom(0, 0, 0, -1, 2),
    payer: fc.constantFrom('a', 'a', 'b', 'c'),
    n: fc.integer({ min: 1, max: 9 }),
    promptTokenCount: fc.integer({ min: 1, max: 200 }),
    maxTokens: fc.integer({ min: 1, max: 56 }),
  }),
  fc.record({ kind: fc.constant('cancel' as const), pick: fc.nat(1_000) }),
  fc.record({ kind: fc.constant('read' as const), pick: fc.nat(1_000), unread: fc.boolean() }),
  fc.record({ kind: fc.constant('steps' as const), count: fc.integer({ min: 1, max: 30 }) }),
);

test('in any order of arrivals, cancels and pauses of readers the cache is never overfull and every sequence ends exactly once', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const queues = queued.createQueues<Sim>();
      const accepted: Sim[] = [];
      const ranks = createFairRanks();
      const step = () => {
        const plan = scheduler.planStep(queues, budget, limits);
        if (plan.kind === 'prefill') ranks.begin(plan.group.rank);
        applyPlan(queues, plan);
      };
      const checkOrder = () => {
        for (const ranks of [queues.running.map((one) => one.rank), queues.waiting.map((group) => group.rank)]) {
          expect(ranks).toEqual(ranks.toSorted(compareRanks));
        }
        expect(queues.running.length).toBeLessThanOrEqual(limits.maxRunning);
        expect(queued.usedTokens(queues)).toBeLessThanOrEqual(budget.tokens);
      };
      for (const happening of events) {
        if (happening.kind === 'arrive') {
          const rank = ranks.assign({ ...happening, size: happening.n });
          const sequences = request(rank, happening.n, happening.promptTokenCount, happening.maxTokens);
          try {
            queued.enqueue(queues, [...sequences], limits.maxWaiting);
            accepted.push(...sequences);
          } catch (error) {
            expect(error).toMatchObject({ code: 'too_many_requests' });
          }
        } else if (happening.kind === 'cancel') {
          const s = accepted[happening.pick % Math.max(1, accepted.length)];
          if (s && queued.remove(queues, s) !== 'gone') {
            s.ends.push('cancelled');
            s.slot = null;
          }
        } else if (happening.kind === 'read') {
          const picked = accepted[happening.pick % Math.max(1, accepted.length)];
          for (const s of accepted) if (s.rank.number === picked?.rank.number) s.unread = happening.unread;
        } else
          for (let i = 0; i < happening.count; i++) {
            step();
            checkOrder();
          }
      }
      for (const s of accepted) s.unread = false;
      // No starvation: each step computes a token or a chunk, and a preempted sequence repeats at most a context.
      let left = accepted.length * contextLength * 4;
      while (scheduler.planStep(queues, budget, limits).kind !== 'idle') {
        step();
        checkOrder();
        expect(left--).toBeGreaterThan(0);
      }
      for (const s of accepted) {
        expect(s.ends).toHaveLength(1);
        if (s.ends[0] === 'finished') expect(s.tokenCount).toBe(s.promptTokenCount + s.maxTokens);
      }
      expect(queued.usedTokens(queues)).toBe(0);
    }),
    { seed: 9, numRuns: 100 },
  );
});
