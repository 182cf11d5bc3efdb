import { expect, test } from 'vitest';
import fc from 'fast-check';
import { capacityClasses, capacityFor } from './kv-cache.ts';
import { compareRanks, createTurns, type Rank } from './rank.ts';
import * as scheduler from './scheduler.ts';

interface Sim {
  rank: Rank;
  promptTokenCount: number;
  tokenCount: number;
  computedTokenCount: number;
  slot: { capacity: number } | null;
  maxTokens: number;
  ends: ('finished' | 'cancelled')[];
}

const limits: scheduler.StepLimits = { maxRunning: 6, maxWaiting: 40, prefillChunk: 32, prefillTokensPerDecode: 64 };
const contextLength = 256;
const budget: scheduler.CacheBudget = { classes: capacityClasses(contextLength), tokens: 448 };

function request(rank: Rank | number, n: number, promptTokenCount: number, maxTokens: number): Sim[] {
  return Array.from({ length: n }, () => ({
    rank: typeof rank === 'number' ? { priority: 0, turn: 0, number: rank } : rank,
    promptTokenCount,
    tokenCount: promptTokenCount,
    computedTokenCount: 0,
    slot: null,
    maxTokens,
    ends: [],
  }));
}

/** Does to the queues what the engine does, with capacities in place of tensors. */
function applyPlan(queues: scheduler.Queues<Sim>, plan: scheduler.StepPlan<Sim>): void {
  if (plan.kind === 'idle') return;
  if (plan.kind === 'prefill') {
    const { group, start, end, capacity } = plan;
    scheduler.beginPrefill(queues, group);
    group.slot = { capacity };
    group.computedTokenCount = end;
    queues.prefillTokensSinceDecode += end - start;
    if (end < group.sequences[0]!.promptTokenCount) return;
    const started = scheduler.finishPrefill(queues, group, scheduler.countStarts(queues, group, budget, limits));
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
    scheduler.requeue(queues, prefilling!.sequences);
  }
  for (const s of plan.preempted.toReversed()) {
    scheduler.remove(queues, s);
    s.slot = null;
    s.computedTokenCount = 0;
    scheduler.requeue(queues, [s]);
  }
  queues.prefillTokensSinceDecode = 0;
  for (const s of plan.sequences) {
    s.computedTokenCount++;
    s.slot = { capacity: Math.max(s.slot!.capacity, capacityFor(budget.classes, s.computedTokenCount)) };
  }
  expect(scheduler.usedTokens(queues)).toBeLessThanOrEqual(budget.tokens);
  for (const s of plan.sequences) if (s.computedTokenCount === s.tokenCount) produce(queues, s);
}

function produce(queues: scheduler.Queues<Sim>, s: Sim): void {
  s.tokenCount++;
  if (s.tokenCount < s.promptTokenCount + s.maxTokens) return;
  s.ends.push('finished');
  scheduler.remove(queues, s);
  s.slot = null;
}

function run(queues: scheduler.Queues<Sim>, steps: number): scheduler.StepPlan<Sim>[] {
  const plans: scheduler.StepPlan<Sim>[] = [];
  for (let i = 0; i < steps; i++) {
    const plan = scheduler.planStep(queues, budget, limits);
    plans.push(plan);
    applyPlan(queues, plan);
  }
  return plans;
}

test('an empty engine is idle', () => {
  expect(scheduler.planStep(scheduler.createQueues<Sim>(), budget, limits)).toEqual({ kind: 'idle' });
});

test('a prompt is computed in chunks that end at multiples of the chunk size', () => {
  const queues = scheduler.createQueues<Sim>();
  scheduler.enqueue(queues, request(1, 1, 70, 2), limits);
  const chunks = run(queues, 3).map((plan) => plan.kind === 'prefill' && [plan.start, plan.end, plan.capacity]);
  expect(chunks).toEqual([
    [0, 32, 64],
    [32, 64, 64],
    [64, 70, 128],
  ]);
});

test('the choices of a request start together from one prefill', () => {
  const queues = scheduler.createQueues<Sim>();
  scheduler.enqueue(queues, request(1, 4, 10, 5), limits);
  const [prefill, decode] = run(queues, 2);
  expect(prefill).toMatchObject({ kind: 'prefill', start: 0, end: 10 });
  expect(decode).toMatchObject({ kind: 'decode', preempted: [] });
  expect(decode?.kind === 'decode' && decode.sequences).toHaveLength(4);
});

test('sequences that decode get a turn between the prompts of a crowd', () => {
  const queues = scheduler.createQueues<Sim>();
  for (let i = 0; i < 6; i++) scheduler.enqueue(queues, request(i, 1, 30, 50), limits);
  const kinds = run(queues, 8).map((plan) => plan.kind);
  expect(kinds).toEqual(['prefill', 'prefill', 'prefill', 'decode', 'prefill', 'prefill', 'prefill', 'decode']);
});

test('the newest sequence gives up its place when the cache is full, and the oldest never does', () => {
  const queues = scheduler.createQueues<Sim>();
  for (let i = 0; i < 4; i++) scheduler.enqueue(queues, request(i, 1, 60, 100), limits);
  const preempted = run(queues, 500).flatMap((plan) => (plan.kind === 'decode' ? plan.preempted : []));
  expect(preempted.length).toBeGreaterThan(0);
  expect(preempted.every((s) => s.rank.number > 0)).toBe(true);
});

test('a full queue refuses a request and says how many wait', () => {
  const queues = scheduler.createQueues<Sim>();
  scheduler.enqueue(queues, request(1, 40, 5, 5), limits);
  expect(() => scheduler.enqueue(queues, request(2, 1, 5, 5), limits)).toThrow(
    expect.objectContaining({
      code: 'too_many_requests',
      message: expect.stringContaining('40 of at most 40') as string,
    }),
  );
});

test('a payer with one request is not behind the backlog of another', () => {
  const queues = scheduler.createQueues<Sim>();
  const turns = createTurns();
  const arrive = (payer: string) => {
    const sequences = request(turns.take({ priority: 0, payer, size: 1 }), 1, 10, 5);
    scheduler.enqueue(queues, sequences, limits);
    return sequences[0]!;
  };
  const backlog = Array.from({ length: 30 }, () => arrive('greedy'));
  for (let i = 0; i < 12; i++) {
    const plan = scheduler.planStep(queues, budget, limits);
    if (plan.kind === 'prefill') turns.begin(plan.group.rank);
    applyPlan(queues, plan);
  }
  const modest = arrive('modest');
  while (modest.ends.length === 0) run(queues, 1);
  expect(backlog.filter(({ ends }) => ends.length > 0).length).toBeLessThan(15);
});

test('a smaller priority goes before an earlier arrival, whoever pays', () => {
  const turns = createTurns();
  const [early, late, urgent] = [0, 0, -1].map((priority) => turns.take({ priority, payer: 'a', size: 3 }));
  expect([early, late, urgent].toSorted((a, b) => compareRanks(a!, b!))).toEqual([urgent, early, late]);
});

type Event =
  | { kind: 'arrive'; priority: number; payer: string; n: number; promptTokenCount: number; maxTokens: number }
  | { kind: 'cancel'; pick: number }
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
  fc.record({ kind: fc.constant('steps' as const), count: fc.integer({ min: 1, max: 30 }) }),
);

test('in any order of arrivals and cancels the cache is never overfull and every sequence ends exactly once', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const queues = scheduler.createQueues<Sim>();
      const accepted: Sim[] = [];
      const turns = createTurns();
      const step = () => {
        const plan = scheduler.planStep(queues, budget, limits);
        if (plan.kind === 'prefill') turns.begin(plan.group.rank);
        applyPlan(queues, plan);
      };
      const checkOrder = () => {
        for (const ranks of [queues.running.map((one) => one.rank), queues.waiting.map((group) => group.rank)]) {
          expect(ranks).toEqual(ranks.toSorted(compareRanks));
        }
        expect(queues.running.length).toBeLessThanOrEqual(limits.maxRunning);
        expect(scheduler.usedTokens(queues)).toBeLessThanOrEqual(budget.tokens);
      };
      for (const happening of events) {
        if (happening.kind === 'arrive') {
          const rank = turns.take({ ...happening, size: happening.n });
          const sequences = request(rank, happening.n, happening.promptTokenCount, happening.maxTokens);
          try {
            scheduler.enqueue(queues, [...sequences], limits);
            accepted.push(...sequences);
          } catch (error) {
            expect(error).toMatchObject({ code: 'too_many_requests' });
          }
        } else if (happening.kind === 'cancel') {
          const s = accepted[happening.pick % Math.max(1, accepted.length)];
          if (s && scheduler.remove(queues, s) !== 'gone') {
            s.ends.push('cancelled');
            s.slot = null;
          }
        } else
          for (let i = 0; i < happening.count; i++) {
            step();
            checkOrder();
          }
      }
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
      expect(scheduler.usedTokens(queues)).toBe(0);
    }),
    { seed: 9, numRuns: 100 },
  );
});
