import { setImmediate as nextTurn } from 'node:timers/promises';
import { buildSchema, execute, parse } from 'graphql';
import { expect, test } from 'vitest';
import { createKeyedLock } from '#base/keyed-lock';
import { createAnswerBudget, FIELDS_MAX, READS_MAX } from './answer-budget.ts';

test('fields are counted over the whole answer', async () => {
  const budget = createAnswerBudget(new AbortController().signal, 'team', createKeyedLock());
  for (let i = 0; i < FIELDS_MAX; i++) void budget.field(() => i);
  let resolved = 0;
  void budget.field(() => ++resolved);
  await expect(budget.ended).rejects.toThrow(/more than 50000 fields/);
  void budget.field(() => ++resolved);
  await nextTurn();
  expect(resolved).toBe(0);
});

test('items of a list are counted before they are made', () => {
  const budget = createAnswerBudget(new AbortController().signal, 'team', createKeyedLock());
  budget.items(FIELDS_MAX);
  expect(() => budget.items(1)).toThrow(/more than 50000 fields/);
});

test('fields that wait for a turn share it: none of them makes the others hold the event loop', async () => {
  const budget = createAnswerBudget(new AbortController().signal, 'team', createKeyedLock());
  const busy = (): void => {
    for (const startMs = performance.now(); performance.now() - startMs < 1;);
  };
  let [isDone, turns] = [false, 0];
  const count = (): void => void (turns++, isDone || setImmediate(count));
  setImmediate(count);
  await Promise.all(Array.from({ length: 200 }, () => Promise.resolve(budget.field(busy))));
  isDone = true;
  expect(turns).toBeGreaterThan(10);
});

test('reads are counted, each lets others run, and none begins after the client has left', async () => {
  const client = new AbortController();
  const budget = createAnswerBudget(client.signal, 'team', createKeyedLock());
  let reads = 0;
  const store = budget.reading({ read: async () => ++reads });
  let turns = 0;
  const beat = () => void (++turns < 3 && setImmediate(beat));
  setImmediate(beat);
  for (let i = 0; i < 3; i++) await store.read();
  expect(turns).toBe(3);
  const last = store.read();
  client.abort();
  await expect(last).rejects.toMatchObject({ code: 'cancelled' });
  await expect(budget.ended).rejects.toThrow(/has left/);
  expect(reads).toBe(3);
});

test('reads that are asked for at once run one after another, also those of two documents of one account', async () => {
  const lock = createKeyedLock();
  const { signal } = new AbortController();
  let [running, turns, turnsBefore] = [0, 0, -1];
  const read = async () => {
    expect(++running).toBe(1);
    expect(turns).toBeGreaterThan(turnsBefore);
    turnsBefore = turns;
    await Promise.resolve();
    running--;
  };
  const count = () => void (turns++, turns < 1_000 && setImmediate(count));
  setImmediate(count);
  const stores = [1, 2].map(() => createAnswerBudget(signal, 'team', lock).reading({ read }));
  await Promise.all(stores.flatMap((store) => [1, 2, 3].map(() => store.read())));
});

test('the budget of reads ends lists in lists', async () => {
  const budget = createAnswerBudget(new AbortController().signal, 'team', createKeyedLock());
  const store = budget.reading({ read: async () => 0 });
  const all = await Promise.allSettled(Array.from({ length: READS_MAX + 5 }, () => store.read()));
  expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(5);
});

test('an answer that ends in the middle leaves no field behind whose failure nobody sees', async () => {
  const left: unknown[] = [];
  const note = (reason: unknown): void => void left.push(reason);
  process.on('unhandledRejection', note);
  const client = new AbortController();
  const budget = createAnswerBudget(client.signal, 'team', createKeyedLock());
  const schema = buildSchema('type Query { rows: [Row!]! } type Row { id: Int! slow: Int! }');
  const slow = async (): Promise<number> => {
    await nextTurn();
    throw new Error('The database is away.');
  };
  const rows = Array.from({ length: 10 }, (_, id) => ({ id, slow }));
  let asked = 0;
  const result = execute({
    schema,
    document: parse('{ rows { slow id } }'),
    rootValue: { rows },
    fieldResolver: (source: Record<string, unknown>, _args, _context, { fieldName }) => {
      if (++asked === 6) client.abort(); // the first rows wait, the next ones are refused
      return budget.field(() => {
        const value = source[fieldName];
        return typeof value === 'function' ? (value as () => unknown)() : value;
      });
    },
  });
  await expect(Promise.race([result, budget.ended])).rejects.toMatchObject({ code: 'cancelled' });
  for (let i = 0; i < 5; i++) await nextTurn();
  process.off('unhandledRejection', note);
  expect(left).toEqual([]);
});
