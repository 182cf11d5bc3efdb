import { expect, test } from 'vitest';
import { mergeStreams } from './merge-streams.ts';

async function* counting(to: number, ended: string[], name: string, failAt = Infinity) {
  try {
    for (let i = 0; i < to; i++) {
      if (i === failAt) throw new Error(`${name} broke`);
      yield `${name}${i}`;
    }
  } finally {
    ended.push(name);
  }
}

async function collect(merged: AsyncIterable<readonly [number, string]>): Promise<string[]> {
  const values: string[] = [];
  for await (const [index, value] of merged) values.push(`${index}:${value}`);
  return values;
}

test('every value of every stream arrives once, in the order of its stream', async () => {
  const values = await collect(mergeStreams([counting(3, [], 'a'), counting(0, [], 'b'), counting(2, [], 'c')]));
  expect(values.filter((value) => value.startsWith('0'))).toEqual(['0:a0', '0:a1', '0:a2']);
  expect(values.filter((value) => value.startsWith('2'))).toEqual(['2:c0', '2:c1']);
  expect(values).toHaveLength(5);
});

test('a failure ends all of them', async () => {
  const ended: string[] = [];
  const merged = mergeStreams([counting(100, ended, 'a'), counting(5, ended, 'b', 2)]);
  await expect(collect(merged)).rejects.toThrow('b broke');
  expect(ended.sort()).toEqual(['a', 'b']);
});

test('leaving ends all of them', async () => {
  const ended: string[] = [];
  for await (const _ of mergeStreams([counting(100, ended, 'a'), counting(100, ended, 'b')])) break;
  expect(ended.sort()).toEqual(['a', 'b']);
});

test('a slow stream does not hold up the others', async () => {
  async function* never() {
    await new Promise(() => {});
    yield 'x';
  }
  const merged = mergeStreams([never(), counting(2, [], 'b')]);
  expect((await merged.next()).value).toEqual([1, 'b0']);
  expect((await merged.next()).value).toEqual([1, 'b1']);
});
