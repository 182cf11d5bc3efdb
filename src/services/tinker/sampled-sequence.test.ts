import { expect, test } from 'vitest';
import { createSampledSequence } from './sampled-sequence.ts';

const token = (tokenId: number) => ({ tokenId, logprob: -tokenId / 2 });

test('a sequence of any length keeps its tokens and their log-probabilities', () => {
  const sequence = createSampledSequence(0);
  for (let id = 0; id < 1_000; id++) sequence.add({ ...token(id), topLogprobs: [token(7)] });
  const { tokens, logprobs, best, stopReason } = sequence.read('length');
  expect([...tokens]).toEqual(Array.from({ length: 1_000 }, (_, id) => id));
  expect(logprobs[999]).toBe(-499.5);
  expect([logprobs.length, best, stopReason]).toEqual([1_000, null, 'length']);
});

test('as many of the best tokens are kept at each place as were requested, and padded where there are fewer', () => {
  const sequence = createSampledSequence(2);
  sequence.add({ ...token(1), topLogprobs: [token(1), token(2), token(3)] });
  sequence.add({ ...token(4), topLogprobs: [token(4)] });
  const { best } = sequence.read('stop');
  expect([...best!.ids]).toEqual([1, 2, 4, 0]);
  expect([...best!.logprobs]).toEqual([-0.5, -1, -2, -99_999]);
});
