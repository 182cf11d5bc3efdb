import { expect, test } from 'vitest';
import type { SftRow } from '#domain/sft';
import { planSftJob } from './sft-plan.ts';
import type { RowBudget } from './row-budget.ts';
import type { ConversationEncoder } from './tokenize.ts';

/** A token per character; `u: …\n` and `a: …\n` are turns. */
const render = (messages: SftRow['messages']): string =>
  messages.map(({ role, content }) => `${role[0]}${content as string}\n`).join('');
const encoder: ConversationEncoder = {
  vocabSize: 256,
  renderPrompt: (messages) => `${render(messages)}a`,
  renderClosed: render,
  turnEnd: '\n',
  encode: (text) => [...text].map((character) => character.charCodeAt(0)),
  tokenId: () => null,
};
const budget: RowBudget = {
  contextLength: 40,
  rowLengthMax: 40,
  memory: { budgetBytes: 1e9, fixedBytes: 0, bytesPerToken: 1, bytesPerPair: 0 },
};
const turn = (role: string, content: string) => ({ role, content });
const row = (...answers: string[]): SftRow => ({
  messages: answers.flatMap((answer, i) => [turn('user', `q${i}`), turn('assistant', answer)]),
  tools: null,
});
const plan = (rows: readonly SftRow[], config = {}) => planSftJob(rows, config, { encoder, budget });
const targetsOf = (planned: Awaited<ReturnType<typeof plan>>) =>
  planned.batches.map(({ rows }) => rows.map(({ row }) => String.fromCharCode(...row.targets)).join('|'));

test('assistant turns are trained with the token that ends them, in the order of the file, two rows a step', async () => {
  const planned = await plan([row('one', 'two'), row('three'), row('four')]);
  expect(targetsOf(planned)).toEqual(['one\ntwo\nthree\n', 'four\n']);
  expect(planned.batches.map(({ learningRate, trainedTokens }) => [learningRate, trainedTokens])).toEqual([
    [5e-5, 14],
    [5e-5, 5],
  ]);
  expect(planned.batches[0]!.rows[0]!.tokensSaved).toBe('uq0\na'.length); // both begin alike
});

test('only the last turn, where that is asked', async () => {
  expect(targetsOf(await plan([row('one', 'two'), row('three')], { assistantTurns: 'last' }))).toEqual([
    'two\nthree\n',
  ]);
});

test('rows that are too long are dropped and counted, and keep their place in the batches', async () => {
  const planned = await plan([row('x'.repeat(50)), row('y'.repeat(50)), row('a'), row('b')], { batchSize: 2 });
  expect(planned.skipped).toEqual({ too_long: 2 });
  expect(targetsOf(planned)).toEqual(['a\nb\n']); // the batch of the first two is not a step
  const rates = { batchSize: 2, learningRate: [0.1, 0.2] };
  expect(
    (await plan([row('x'.repeat(50)), row('y'.repeat(50)), row('a'), row('b')], rates)).batches[0]!.learningRate,
  ).toBe(0.2);
});

test('learning rates are one per batch of the file', async () => {
  const rows = ['a', 'b', 'c'].map((answer) => row(answer));
  const { batches } = await plan(rows, { learningRate: [0.1, 0.2] });
  expect(batches.map(({ learningRate }) => learningRate)).toEqual([0.1, 0.2]);
  await expect(plan(rows, { learningRate: [0.1] })).rejects.toThrow('has 1 values for 2 batches');
});

test('the last rows are held out', async () => {
  const rows = Array.from({ length: 10 }, (_, i) => row(String(i)));
  const planned = await plan(rows, { validationSplit: 0.25, batchSize: 100 });
  expect(targetsOf(planned)).toEqual(['0\n1\n2\n3\n4\n5\n6\n7\n']);
  expect(planned.validation.trainedTokens).toBe(4);
  expect(planned.counts).toMatchObject({ num_rows: 10, num_validation_rows: 2, num_trainable_tokens: 16 });
});

test('a batch that is larger than a row of the trainer becomes several', async () => {
  const planned = await plan(
    Array.from({ length: 6 }, (_, i) => row(String(i).repeat(20))),
    { batchSize: 6 },
  );
  expect(planned.batches).toHaveLength(1);
  expect(planned.batches[0]!.rows.length).toBeGreaterThan(2);
  for (const { row } of planned.batches[0]!.rows) expect(row.tokens.length).toBeLessThanOrEqual(40);
});

test('a long plan lets others go on meanwhile', async () => {
  let turns = 0;
  let ended = false;
  const count = () => void (ended || (turns++, setImmediate(count)));
  count();
  const slow: ConversationEncoder = {
    ...encoder,
    encode(text) {
      for (const untilMs = performance.now() + 2; performance.now() < untilMs;); // work
      return encoder.encode(text);
    },
  };
  await planSftJob(
    Array.from({ length: 40 }, () => row('a')),
    {},
    { encoder: slow, budget },
  );
  ended = true;
  expect(turns).toBeGreaterThan(3);
});
