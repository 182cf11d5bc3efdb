import { expect, test } from 'vitest';
import { toneClass, toneOfAdvantage, toneOfLogprob, toneOfRatio } from './tone.ts';

test('tones grow with the size of the number and carry its sign', () => {
  expect([0, -0.05, -0.5, -1, -3, -9, -9999].map(toneOfLogprob)).toEqual([0, 0, 1, 2, 3, 4, 4]);
  expect([1, 1.005, 0.97, 1.1, 0.7, 3, 0.1].map(toneOfRatio)).toEqual([0, 0, -1, 2, -3, 4, -4]);
  expect([0, -0.01, 0.3, -0.7, 1.5, -3].map(toneOfAdvantage)).toEqual([0, 0, 1, -2, 3, -4]);
});

test('unknown numbers have no colour', () => {
  const unknown = { logprob: null, ratio: null, advantage: null, isTrained: true };
  for (const shading of ['logprob', 'ratio', 'advantage', 'none'] as const)
    expect(toneClass(shading, unknown)).toBe('');
  expect(toneClass('logprob', { ...unknown, logprob: -0.5 })).toBe('tone-s1');
  expect(toneClass('ratio', { ...unknown, ratio: 0.5 })).toBe('tone-dn3');
  expect(toneClass('trained', unknown)).toBe('trained');
  expect(toneClass('trained', { ...unknown, isTrained: false })).toBe('');
  expect(toneClass('none', { logprob: -9, ratio: 9, advantage: 9, isTrained: true })).toBe('');
});
