import { expect, onTestFinished, test, vi } from 'vitest';
import { tinkerLoss } from '#training/tinker-losses';
import type { TinkerDatum } from './protobuf/forward-backward.ts';
import { planDatumRows } from './datum-rows.ts';

const datum = (token: number): TinkerDatum => ({
  tokens: Int32Array.of(token, token),
  inputs: new Map([['target_tokens', { values: Int32Array.of(1, 2), shape: [2] }]]),
});
const OPTIONS = {
  limits: {
    contextLength: 8,
    rowLengthMax: 8,
    memory: { budgetBytes: 1, fixedBytes: 0, bytesPerToken: 0, bytesPerPair: 0 },
  },
  vocabSize: 100,
  sharing: 'separate' as const,
};

test('data fill rows in their order, and each gets its own log-probabilities back', async () => {
  const plan = await planDatumRows(
    Array.from({ length: 9 }, (_, i) => datum(i)),
    tinkerLoss('cross_entropy', {}),
    OPTIONS,
  );
  expect(plan.rows.map(({ row }) => row.targets.length)).toEqual([8, 8, 2]);
  const logprobs = plan.rows.map(({ row }, r) => row.targets.map((_, i) => -(8 * r + i)));
  const given = plan.spread(logprobs.map((each) => Float32Array.from(each)));
  expect(given.map((each) => [...each.logprobs])[8]).toEqual([-16, -17]);
  expect(given).toHaveLength(9);
});

test('weights that are turned are refused, though there are as many', async () => {
  const plan = (shape: readonly number[]) => {
    const targets = { values: Int32Array.of(1, 2, 3, 4, 5, 6), shape: [2, 3] };
    const weights = { values: Float32Array.of(1, 1, 1, 0, 0, 0), shape };
    const inputs = new Map<string, typeof targets | typeof weights>([
      ['target_tokens', targets],
      ['weights', weights],
    ]);
    return planDatumRows([{ tokens: Int32Array.of(1, 2), inputs }], tinkerLoss('cross_entropy', {}), OPTIONS);
  };
  expect((await plan([2, 3])).rows).toHaveLength(1);
  await expect(plan([3, 2])).rejects.toThrow('weights has 3 × 2 values for 2 × 3 targets');
});

test('other requests run between data', async () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 20));
  onTestFinished(() => clock.mockRestore());
  let turns = 0;
  const count = () => void (turns++, (next = setImmediate(count)));
  let next = setImmediate(count);
  await planDatumRows(
    Array.from({ length: 50 }, (_, i) => datum(i)),
    tinkerLoss('cross_entropy', {}),
    OPTIONS,
  );
  clearImmediate(next);
  expect(turns).toBeGreaterThan(40);
});
