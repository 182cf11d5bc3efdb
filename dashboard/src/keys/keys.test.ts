import { expect, test } from 'vitest';
import { limitsInWords, limitsOf } from './limits.ts';
import { shortName } from '../ui/short-name.ts';
import { keyName } from './usage-names.ts';

test('limits are those that were typed, and are told in words', () => {
  expect(limitsOf({ tokens_per_day: ' ', queued_jobs: '' })).toBeUndefined();
  expect(limitsOf({ tokens_per_day: '1000', requests_in_flight: '0' })).toEqual({
    tokens_per_day: 1000,
    requests_in_flight: 0,
  });
  expect(
    limitsInWords({ tokens_per_day: 1000, stored_bytes: 5e6, other_thing: 2, requests_in_flight: 1 }).replaceAll(
      '\u2009',
      ' ',
    ),
  ).toBe('1 000 tokens per day, 5.0 MB stored, other thing: 2, 1 request at a time');
});

test('usage names keys by their names and models without their entity', () => {
  const keys = [{ id: 'a-long-id-of-a-key', name: 'laptop' }];
  expect(['a-long-id-of-a-key', 'bootstrap', '0123456789'].map((id) => keyName(id, keys))).toEqual([
    'laptop',
    'key of the environment',
    'key 01234567',
  ]);
  expect(['wandb-artifact:///team/demo/sums', 'whetstone/starter'].map(shortName)).toEqual([
    'demo/sums',
    'whetstone/starter',
  ]);
});
