import { expect, test } from 'vitest';
import { PLAIN_SAMPLING, type SamplingParams } from '#domain/sampling';
import { checkListed } from './listed-alternatives.ts';

const VOCABULARY = 50_000;
const asking = (n: number, sampling: Partial<SamplingParams>) =>
  checkListed(
    [{ n, promptTokens: [1, 2, 3], sampling: { ...PLAIN_SAMPLING, maxTokens: 1, ...sampling } }],
    VOCABULARY,
    'top_logprobs',
  );

test.each([
  ['plain sampling of many long choices', 128, { maxTokens: 32_768 }],
  ['twenty alternatives to each token of a few long choices', 4, { maxTokens: 32_768, topLogprobs: 20 }],
  ['the whole vocabulary beside a hundred tokens', 1, { maxTokens: 99, topLogprobs: -1 }],
])('%s may be listed', (_, n, sampling) => {
  expect(() => asking(n, sampling)).not.toThrow();
});

test.each([
  ['many choices', 128, { maxTokens: 2_000, topLogprobs: 20 }, 5_120_000],
  ['the whole vocabulary', 1, { maxTokens: 101, topLogprobs: -1 }, 5_050_000],
  ['named tokens', 128, { maxTokens: 4_000, logprobTokenIds: Array.from({ length: 10 }, (_, id) => id) }, 5_120_000],
])('%s: more are refused, with how many there would be', (_, n, sampling, count) => {
  expect(() => asking(n, sampling)).toThrow(`could list ${count} alternatives to its tokens`);
});

test('alternatives to the tokens of a prompt count as well', () => {
  const promptTokens = Array.from({ length: 101 }, () => 1);
  const sampling = { ...PLAIN_SAMPLING, maxTokens: 1, promptLogprobs: -1 };
  expect(() => checkListed([{ n: 1, promptTokens, sampling }], VOCABULARY, 'logprobs')).toThrow('5050000');
});

test('tokens of a prompt that every choice repeats count with each', () => {
  const promptTokens = Array.from({ length: 20_000 }, () => 1);
  const echoing = (echoes: number, promptLogprobs: number) => () =>
    checkListed(
      [{ n: 128, promptTokens, sampling: { ...PLAIN_SAMPLING, maxTokens: 1, promptLogprobs } }],
      VOCABULARY,
      'logprobs',
      echoes,
    );
  expect(echoing(128, 0)).not.toThrow();
  expect(echoing(128, 1)).toThrow('5120000');
});
