import { expect, test } from 'vitest';
import type { ConversationRow, SftRow } from '#domain/sft';
import { characterEncoder } from '../../test/support/training/character-encoder.ts';
import { batchesOf, planRows } from '../../test/support/training/planned-sft.ts';
import type { RowBudget } from './row-budget.ts';
import type { ConversationEncoder } from './conversation-encoder.ts';

/** `u: …\n` and `a: …\n` are turns. */
const render = (messages: ConversationRow['messages']): string =>
  messages.map(({ role, content }) => `${role[0]}${content as string}\n`).join('');
const encoder = characterEncoder((messages) => `${render(messages)}a`, render, 256);
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
const plan = (rows: readonly SftRow[], config = {}) => planRows(rows, config, { encoder, budget });
const targetsOf = async (planned: Awaited<ReturnType<typeof plan>>) =>
  (await batchesOf(planned)).map(({ rows }) => rows.map(({ row }) => String.fromCharCode(...row.targets)).join('|'));

test('assistant turns are trained with the token that ends them, in the order of the file, two rows a step', async () => {
  const planned = await plan([row('one', 'two'), row('three'), row('four')]);
  expect(await targetsOf(planned)).toEqual(['one\ntwo\nthree\n', 'four\n']);
  const batches = await batchesOf(planned);
  expect(planned.steps).toBe(2);
  expect(await batchesOf(planned, 1)).toMatchObject([{ trainedTokens: 5 }]); // as a resumed job reads them
  expect(batches.map(({ learningRate, trainedTokens }) => [learningRate, trainedTokens])).toEqual([
    [5e-5, 14],
    [5e-5, 5],
  ]);
  expect(batches[0]!.rows[0]!.tokensSaved).toBe('uq0\na'.length); // both have the same prefix
});

test('the last token of a sequence predicts nothing, and is not computed', async () => {
  const batches = await batchesOf(await plan([row('one'), row('three')], { packs: false }));
  const computed = batches[0]!.rows.map(({ row: { tokens } }) => String.fromCharCode(...tokens));
  expect(computed).toEqual(['uq0\naone', 'uq0\nathree']);
});

test('only the last turn is trained if the job asks for that', async () => {
  expect(await targetsOf(await plan([row('one', 'two'), row('three')], { assistantTurns: 'last' }))).toEqual([
    'two\nthree\n',
  ]);
});

test('rows that are too long are dropped and counted, and keep their place in the batches', async () => {
  const planned = await plan([row('x'.repeat(50)), row('y'.repeat(50)), row('a'), row('b')], { batchSize: 2 });
  expect(planned.skipped).toEqual({ too_long: 2 });
  expect(await targetsOf(planned)).toEqual(['a\nb\n']); // the batch of the first two is not a step
  const rates = { batchSize: 2, learningRate: [0.1, 0.2] };
  const later = await plan([row('x'.repeat(50)), row('y'.repeat(50)), row('a'), row('b')], rates);
  expect(later.steps).toBe(1);
  expect((await batchesOf(later))[0]!.learningRate).toBe(0.2);
});

test('learning rates are one per batch of the file', async () => {
  const rows = ['a', 'b', 'c'].map((answer) => row(answer));
  const batches = await batchesOf(await plan(rows, { learningRate: [0.1, 0.2] }));
  expect(batches.map(({ learningRate }) => learningRate)).toEqual([0.1, 0.2]);
  await expect(plan(rows, { learningRate: [0.1] })).rejects.toThrow('has 1 value for 2 batches');
});

test('epochs go over the rows again and again, rates over the steps of all of them; a job is resumed in any of them', async () => {
  const rows = [row('x'.repeat(50)), row('y'.repeat(50)), row('a'), row('b'), row('c')];
  const config = { epochs: 3, learningRate: 1, schedulerType: 'linear' as const, warmupSteps: 2 };
  const planned = await plan(rows, config);
  expect(planned).toMatchObject({ steps: 6, warmupSteps: 2, counts: { num_rows: 5, num_trainable_tokens: 6 } });
  expect(await targetsOf(planned)).toEqual(['a\nb\n', 'c\n', 'a\nb\n', 'c\n', 'a\nb\n', 'c\n']);
  const placed = (await batchesOf(planned)).map(({ learningRate, epoch }) => [learningRate, epoch]);
  expect(placed).toEqual([
    [0, 0.5],
    [0.5, 1],
    [1, 1.5],
    [0.75, 2],
    [0.5, 2.5],
    [0.25, 3],
  ]);
  for (let first = 0; first <= 6; first++) {
    const resumed = (await batchesOf(planned, first)).map(({ learningRate, epoch }) => [learningRate, epoch]);
    expect(resumed).toEqual(placed.slice(first));
  }
  expect(planned.digest).not.toBe((await plan(rows, { ...config, epochs: 2 })).digest);
  const listed = await batchesOf(await plan(rows, { epochs: 2, learningRate: [1, 2, 3, 4, 5, 6] }));
  expect(listed.map(({ learningRate }) => learningRate)).toEqual([2, 3, 5, 6]);
  await expect(plan(rows, { epochs: 2, learningRate: [1, 2, 3] })).rejects.toThrow('has 3 values for 6 batches');
});

test('rows that are not packed are computed alone, in the same steps', async () => {
  const rows = [row('one', 'two'), row('three'), row('four')];
  const [packed, alone] = [await plan(rows), await plan(rows, { packs: false })];
  const countsOf = (batches: Awaited<ReturnType<typeof batchesOf>>) =>
    batches.map((batch) => batch.rows.map(({ sequenceCount }) => sequenceCount));
  expect(countsOf(await batchesOf(packed))).toEqual([[2], [1]]);
  expect(countsOf(await batchesOf(alone))).toEqual([[1, 1], [1]]);
  expect([alone.steps, alone.digest, alone.counts]).toEqual([packed.steps, packed.digest, packed.counts]);
});

test('the last rows are held out', async () => {
  const rows = Array.from({ length: 10 }, (_, i) => row(String(i)));
  const planned = await plan(rows, { validationSplit: 0.25, batchSize: 100 });
  expect(await targetsOf(planned)).toEqual(['0\n1\n2\n3\n4\n5\n6\n7\n']);
  expect(planned.validation.trainedTokens).toBe(4);
  expect(planned.counts).toMatchObject({ num_rows: 10, num_validation_rows: 2, num_trainable_tokens: 16 });
});

test.each([
  [0.29, 29],
  [0.07, 7],
  [0.1, 10],
  [0.299, 29],
])('of 100 rows, %f are %i, whatever the product is in floats', async (validationSplit, held) => {
  const rows = Array.from({ length: 100 }, (_, i) => row(String(i)));
  expect((await plan(rows, { validationSplit })).counts).toMatchObject({ num_validation_rows: held });
});

test('a batch that is larger than a row of the trainer becomes several rows', async () => {
  const planned = await plan(
    Array.from({ length: 6 }, (_, i) => row(String(i).repeat(20))),
    { batchSize: 6 },
  );
  const batches = await batchesOf(planned);
  expect(batches).toHaveLength(1);
  expect(batches[0]!.rows.length).toBeGreaterThan(2);
  for (const { row } of batches[0]!.rows) expect(row.tokens.length).toBeLessThanOrEqual(40);
});

test('equal sequences, which share all their tokens, fill a row all the same', async () => {
  const equal = Array.from({ length: 10_000 }, () => row('y'.repeat(30)));
  const [batch] = await batchesOf(await plan(equal, { batchSize: 10_000 }));
  expect(batch!.rows.map(({ sequenceCount }) => sequenceCount)).toEqual([7_352, 2_648]); // 36 tokens each, and their overhead
});

test('a long plan lets other work run in between', async () => {
  let turns = 0;
  let ended = false;
  const count = () => void (ended || (turns++, setImmediate(count)));
  count();
  const slow: ConversationEncoder = {
    ...encoder,
    encodeText(text) {
      for (const untilMs = performance.now() + 2; performance.now() < untilMs;); // work
      return encoder.encodeText(text);
    },
  };
  await planRows(
    Array.from({ length: 40 }, () => row('a')),
    {},
    { encoder: slow, budget },
  );
  ended = true;
  expect(turns).toBeGreaterThan(3);
});
