import { expect, test } from 'vitest';
import { answerRows, filterAnswers, orderRows, type AnsweredPrompt } from './answer-rows.ts';

const promptOf = (index: number, content: string, ...rewards: (number | null)[]): AnsweredPrompt => ({
  id: String(index),
  index,
  messages: [{ role: 'user', content }],
  tools: [],
  reference: null,
  metadata: {},
  error: null,
  answers: rewards.map((reward, at) => ({
    index: at,
    message: { role: 'assistant', content: 'x' },
    finish_reason: 'stop',
    token_ids: [1],
    logprobs: [-1],
    reward,
    metrics: {},
    reward_metadata: {},
  })),
});

const now = [promptOf(0, 'a', 1, 0), promptOf(1, 'twice', 1), promptOf(2, 'twice', 0), promptOf(3, 'new', null)];
const then = [promptOf(0, 'twice', 0), promptOf(1, 'gone', 1), promptOf(2, 'a', 1), promptOf(3, 'twice', 0.5)];

test('prompts are matched whatever their position, and a prompt asked twice is matched twice', () => {
  const rows = answerRows(now, then);
  expect(rows.map(({ mean, before, then: other }) => [mean, before, other?.index ?? null])).toEqual([
    [0.5, 1, 2],
    [1, 0, 0],
    [0, 0.5, 3],
    [null, null, null],
  ]);
});

test('are sorted by reward or by its change; rows without a number come last', () => {
  const rows = answerRows(now, then);
  const indexes = (order: Parameters<typeof orderRows>[1]) => orderRows(rows, order).map(({ key }) => Number(key));
  expect(indexes('worst first')).toEqual([2, 0, 1, 3]);
  expect(indexes('best first')).toEqual([1, 0, 2, 3]);
  expect(indexes('greatest loss')).toEqual([0, 2, 1, 3]);
  expect(indexes('greatest gain')).toEqual([1, 0, 2, 3]);
  expect(indexes('as asked')).toEqual([0, 1, 2, 3]);
});

test('prompts are found by a text in any message, answer or value of the metadata', () => {
  const rows = answerRows([promptOf(0, 'Add 7'), { ...promptOf(1, 'b', 1), metadata: { topic: ['SUMS'] } }], []);
  const found = (text: string) => filterAnswers(rows, text).map(({ key }) => key);
  expect([found('add'), found('sums'), found('X'), found('none'), found('')]).toEqual([
    ['0'],
    ['1'],
    ['1'],
    [],
    ['0', '1'],
  ]);
});
