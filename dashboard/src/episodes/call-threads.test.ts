import { expect, test } from 'vitest';
import { threadsOf, type PlacedCall, type Thread } from './call-threads.ts';

const call = (id: string, parent_id: string | null): PlacedCall => ({ id, parent_id });

/** `a b(d) c`: the branch d left the line after b. */
const drawn = (thread: Thread<PlacedCall>): string =>
  thread.map(({ call: { id }, branches }) => `${id}${branches.map((each) => `(${drawn(each)})`).join('')}`).join(' ');

test('a conversation is a line; a retry stands where it left, and the longer continuation stays in the line', () => {
  const calls = [call('a', null), call('b', 'a'), call('retry', 'a'), call('c', 'retry'), call('sub', null)];
  expect(threadsOf(calls).map(drawn)).toEqual(['a(b) retry c', 'sub']);
  expect(threadsOf(calls)[0]!.map(({ number }) => number)).toEqual([1, 3, 4]);
});

test('of equally long continuations the first stays in the line', () => {
  expect(threadsOf([call('a', null), call('b', 'a'), call('c', 'a'), call('d', 'a')]).map(drawn)).toEqual([
    'a(c)(d) b',
  ]);
  expect(threadsOf([])).toEqual([]);
});

test('thousands of turns in one line need no stack, and a full binary tree is nested as its logarithm', () => {
  const line = Array.from({ length: 20_000 }, (_, at) => call(`${at}`, at === 0 ? null : `${at - 1}`));
  expect(threadsOf(line)[0]).toHaveLength(20_000);
  const tree = Array.from({ length: 1_023 }, (_, at) => call(`${at}`, at === 0 ? null : `${(at - 1) >> 1}`));
  const depth = (thread: Thread<PlacedCall>): number =>
    1 + Math.max(0, ...thread.flatMap(({ branches }) => branches.map(depth)));
  expect(depth(threadsOf(tree)[0]!)).toBe(10);
});
