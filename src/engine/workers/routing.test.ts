import { expect, test } from 'vitest';
import { createRouter, type Candidate } from './routing.ts';

const sampler = (id: string, load = 0, size = 8): Candidate => ({ id, load, size });
const prompt = (first: number, length = 256) => Array.from({ length }, (_, i) => first + i);
const wanted = (promptTokens: readonly number[], scope = 'model') => ({ promptTokens, scope });

test('without samplers, none is chosen', () => {
  expect(createRouter().choose([], wanted([1]))).toBeNull();
});

test('without a shared prefix, the sampler with the least work for its size is chosen', () => {
  const samplers = [sampler('busy', 6), sampler('large', 8, 64), sampler('idle', 2)];
  expect(createRouter().choose(samplers, wanted([1, 2, 3]))).toBe('large');
});

test('a request goes to the sampler that computed its prefix, as long as that one is not much fuller', () => {
  const router = createRouter();
  expect(router.choose([sampler('a'), sampler('b', 1)], wanted(prompt(0)))).toBe('a');
  const longer = wanted([...prompt(0), 7, 8, 9]);
  expect(router.choose([sampler('a', 4), sampler('b', 1)], longer)).toBe('a');
  expect(router.choose([sampler('a', 8), sampler('b', 1)], longer)).toBe('b');
});

test('the longest shared prefix wins over a shorter one', () => {
  const router = createRouter();
  router.choose([sampler('a'), sampler('b', 1)], wanted(prompt(0, 64)));
  const whole = prompt(0, 512);
  expect(router.choose([sampler('b')], wanted(whole))).toBe('b');
  expect(router.choose([sampler('a'), sampler('b')], wanted(whole))).toBe('b');
});

test('prefixes are shared within a scope only, and a sampler that is gone shares none', () => {
  const router = createRouter();
  expect(router.choose([sampler('a'), sampler('b', 1)], wanted(prompt(0), 'adapter 1'))).toBe('a');
  expect(router.choose([sampler('a', 1), sampler('b')], wanted(prompt(0), 'adapter 2'))).toBe('b');
  expect(router.choose([sampler('b'), sampler('c', 1)], wanted(prompt(0), 'adapter 1'))).toBe('b');
});

test('short prompts spread', () => {
  const router = createRouter();
  const short = wanted([1, 2, 3]);
  expect([
    router.choose([sampler('a'), sampler('b', 1)], short),
    router.choose([sampler('a', 1), sampler('b')], short),
  ]).toEqual(['a', 'b']);
});
