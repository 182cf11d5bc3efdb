// Work that would not end is ended; other work is as if it had been called.
import { expect, test } from 'vitest';
import { TimeLimitError, withinMs } from './time-limit.ts';

test('a value and an error pass', () => {
  expect(withinMs(1_000, () => [1])).toEqual([1]);
  expect(() =>
    withinMs(1_000, () => {
      throw new RangeError('no');
    }),
  ).toThrow(new RangeError('no'));
});

test.each([
  [
    'a loop',
    () => {
      for (;;);
    },
  ],
  ['a regular expression', () => /^(a+)+$/.test(`${'a'.repeat(50)}b`)],
  [
    'work that catches everything',
    () => {
      try {
        for (;;);
      } catch {
        return;
      }
    },
  ],
])('%s without end is ended', (_what, work) => {
  expect(() => withinMs(50, work)).toThrow(TimeLimitError);
  expect(withinMs(1_000, () => 'afterwards')).toBe('afterwards');
});

test('a limit inside a limit', () => {
  const inner = () =>
    withinMs(50, () => {
      for (;;);
    });
  expect(() => withinMs(5_000, inner)).toThrow(TimeLimitError);
  expect(withinMs(5_000, () => `${withinMs(1_000, () => 1)} and ${withinMs(1_000, () => 2)}`)).toBe('1 and 2');
});
