import { expect, test } from 'vitest';
import { createAnswerBudget, FIELDS_MAX, READS_MAX } from './answer-budget.ts';

test('fields are counted over the whole answer', async () => {
  const budget = createAnswerBudget(new AbortController().signal);
  for (let i = 0; i < FIELDS_MAX; i++) void budget.field(() => i);
  expect(() => budget.field(() => 0)).toThrow(/more than 100000 fields/);
});

test('reads are counted, each lets others run, and none begins after the client has left', async () => {
  const client = new AbortController();
  const budget = createAnswerBudget(client.signal);
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
  expect(() => budget.field(() => 0)).toThrow(/has left/);
  expect(reads).toBe(3);
});

test('the budget of reads ends lists in lists', async () => {
  const budget = createAnswerBudget(new AbortController().signal);
  const store = budget.reading({ read: async () => 0 });
  const all = await Promise.allSettled(Array.from({ length: READS_MAX + 5 }, () => store.read()));
  expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(5);
});
