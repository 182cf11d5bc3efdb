// Patterns without anchors compared with the same patterns with counters, and with JavaScript's regular expressions.
import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import { patternTerm } from './pattern.ts';
import { createTerms } from './terms.ts';

const PATTERNS = [
  '[ab]{1,255}',
  '[ab]{2,9}',
  'a?b{2,3}',
  '(a|bb){1,3}c*',
  'x|a*',
  '(a{2,3}b?)+',
  '^a{1,3}',
  'b{1,3}$',
  '^a*|b+c',
  '^(a|b{2,4})',
  '(ab?){2,4}$',
  '(?=a{2,3})b{0,2}',
  'c{0}',
  '(?!a+)b+',
  'a+(?=b*)',
];

test.each(PATTERNS)('%s: the texts that have a match', (pattern) => {
  const terms = createTerms();
  const term = patternTerm(terms, pattern, 'plain', 'part');
  const expression = new RegExp(pattern, 'u');
  const random = createRandom(3);
  const texts = Array.from({ length: 2_000 }, () =>
    Array.from({ length: random.integer(9) }, () => 'abcx'[random.integer(4)]!).join(''),
  );
  expect(texts.filter((text) => terms.matches(term, Buffer.from(text)))).toEqual(
    texts.filter((text) => expression.test(text)),
  );
});

test('a counter without an anchor after it adds no states', () => {
  const terms = createTerms();
  const term = patternTerm(terms, '[a-z0-9-_.:]{1,255}', 'json', 'part');
  const without = terms.not(term);
  const before = terms.size;
  expect(terms.isAlive(terms.and([term, without]))).toBe(false);
  expect(terms.size - before).toBeLessThan(50);
});
