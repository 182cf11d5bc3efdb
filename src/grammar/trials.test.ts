// The queue of grammars being tried, with threads controlled by the test: which request waits for which, and which is blamed.
import { beforeEach, expect, test } from 'vitest';
import type { GrammarWorker } from './grammar-worker.ts';
import type { KeyedConstraint } from './thread-messages.ts';
import { createTrials } from './trials.ts';

const tried: string[] = [];
beforeEach(() => void (tried.length = 0));

const grammar = (source: string): KeyedConstraint => ({ key: source, constraint: { kind: 'ebnf', source } });

/** `slow…` never finishes, `fatal…` kills its thread (`fatal to others`: while it is idle), others finish at once. */
function fakeWorker(): GrammarWorker {
  let [lost, guilty, count] = [false, 0, 0];
  return {
    get lost() {
      return lost;
    },
    get guilty() {
      return guilty;
    },
    workedMs: () => null,
    started: Promise.resolve(),
    nextId: () => ++count,
    async ask(message, deadlineMs) {
      if (message.kind !== 'compile') throw new Error(`${message.kind} is not asked here`);
      const { source } = message.grammar.constraint;
      tried.push(source);
      if (source.startsWith('fatal')) {
        [lost, guilty] = [true, source === 'fatal to others' ? 0 : message.id];
        return 'lost';
      }
      if (!source.startsWith('slow')) return { outcome: 'done' };
      await new Promise((resolve) => setTimeout(resolve, deadlineMs));
      return 'late';
    },
    tell: () => {},
    end: async () => void (lost = true),
  };
}

const createFakeTrials = () =>
  createTrials({ takeWorker: fakeWorker, isIdle: () => false, compileMs: 100, quickMs: 5 });
const failure = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

test('the queue is fair to payers, and grammars of clients that left are not tried', async () => {
  const trials = createFakeTrials();
  const leaving = new AbortController();
  const slow = Array.from({ length: 20 }, (_, i) =>
    failure(trials.run(grammar(`slow ${i}`), { payer: 'a', ...(i % 2 === 1 && { signal: leaving.signal }) })),
  );
  const small = trials.run(grammar('small'), { payer: 'b' });
  leaving.abort(new Error('the client left'));
  await small;
  expect(tried.indexOf('small')).toBeLessThanOrEqual(2);
  const ends = await Promise.all(slow);
  expect(tried.filter((source) => source !== 'small')).toEqual(Array.from({ length: 10 }, (_, i) => `slow ${i * 2}`));
  expect(String(ends[1])).toContain('the client left');
});

test('one payer cannot fill the queue of the others', async () => {
  const trials = createFakeTrials();
  const many = Array.from({ length: 200 }, (_, i) => failure(trials.run(grammar(`slow ${i}`), { payer: 'a' })));
  await trials.run(grammar('small'), { payer: 'b' });
  expect(await many.at(-1)).toMatchObject({ code: 'engine_unavailable' });
  await Promise.all(many);
});

test('a grammar that kills two threads is refused, and the next one is tried', async () => {
  const trials = createFakeTrials();
  await expect(trials.run(grammar('fatal'), { payer: 'a' })).rejects.toMatchObject({
    code: 'invalid_constraint',
    message: 'This constraint needs more memory than a grammar may use. Use a simpler one.',
  });
  expect(tried).toEqual(['fatal', 'fatal']);
  await trials.run(grammar('small'), { payer: 'a' });
});

test('a grammar whose thread is lost without its doing is tried again, and is not refused', async () => {
  const trials = createFakeTrials();
  await expect(trials.run(grammar('fatal to others'), { payer: 'a' })).rejects.toMatchObject({
    code: 'engine_unavailable',
    message: 'The server is busy with the constraints of other requests. Try again.',
  });
  expect(tried).toEqual(['fatal to others', 'fatal to others']);
});
