import { expect, test } from 'vitest';
import { bestCheckpoint, createEarlyStopping } from './early-stopping.ts';

const stopsAt = (values: readonly (number | null)[], options: Parameters<typeof createEarlyStopping>[0]) => {
  const stopping = createEarlyStopping(options);
  const at = values.findIndex((value, step) => stopping.report(step, value));
  return { at, best: stopping.best };
};

test.each([
  ['ends after so many evaluations without improvement', [0.1, 0.5, 0.4, 0.5, 0.9], { patience: 2 }, 3, 1],
  ['begins to count anew with every improvement', [0.1, 0.05, 0.2, 0.1, 0.3], { patience: 2 }, -1, 4],
  ['a small improvement is the best but does not begin anew', [0.5, 0.55, 0.58], { patience: 2, threshold: 0.1 }, 2, 2],
  ['an improvement is more than the threshold', [0.25, 0.5, 0.75], { patience: 1, threshold: 0.25 }, 1, 1],
  ['of a loss less is better', [2, 1, 3, 4], { patience: 2, greaterIsBetter: false }, 3, 1],
  ['no number is no improvement', [0.5, null, NaN], { patience: 2 }, 2, 0],
])('%s', (_, values, options, at, best) => {
  expect(stopsAt(values, options)).toEqual({ at, best: { step: best, value: values[best] } });
});

test('it stops if no value was ever a number', () => {
  expect(stopsAt([null, null], { patience: 2 })).toEqual({ at: 1, best: null });
});

test.each([{ patience: 0 }, { patience: 1.5 }, { patience: NaN }, { patience: 1, threshold: -1 }])(
  '%o is refused',
  (options) => {
    expect(() => createEarlyStopping(options)).toThrow(RangeError);
  },
);

async function* checkpointsWith(metric: string, values: readonly (number | undefined)[]) {
  for (const [step, value] of values.entries()) {
    yield { id: `${step}`, step, metrics: value === undefined ? {} : { [metric]: value } };
  }
}

test('the best checkpoint is the oldest of the best; a checkpoint without the metric does not count', async () => {
  const values = [undefined, 0.5, 0.9, 0.9, 0.1];
  expect(await bestCheckpoint(checkpointsWith('val/reward', values), 'val/reward', true)).toEqual({
    step: 2,
    value: 0.9,
  });
  expect(await bestCheckpoint(checkpointsWith('val/loss', values), 'val/loss', false)).toEqual({ step: 4, value: 0.1 });
  expect(await bestCheckpoint(checkpointsWith('val/loss', values), 'val/reward', true)).toBeNull();
});
