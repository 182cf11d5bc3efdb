import { expect, test } from 'vitest';
import { createSharedLists } from './shared-lists.ts';

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);

function sizeOf(list: number[]): number {
  const alone = createSharedLists();
  alone.keep(list);
  return alone.sizeBytes;
}

test('lists come back unchanged; a shared prefix is stored once, until the last list that has it is dropped', () => {
  const lists = createSharedLists();
  const turns = [numbers(150), [...numbers(150), ...numbers(150, 1000)], numbers(150), [7], []];
  const kept = turns.map((turn) => lists.keep(turn));
  expect(kept.map((list) => list.read())).toEqual(turns);
  expect(kept[0]).toBe(kept[2]);
  expect(lists.sizeBytes).toBeLessThan(sizeOf(turns[0]!) + sizeOf(turns[1]!));
  lists.release(kept[0]!);
  expect(kept[2]!.read()).toEqual(turns[2]);
  lists.release(kept[2]!);
  expect(kept[1]!.read()).toEqual(turns[1]);
  for (const i of [1, 3, 4]) lists.release(kept[i]!);
  expect(lists.sizeBytes).toBe(0);
});
