import { expect, test } from 'vitest';
import { lazily, LazyList } from '#base/lazy-list';
import { jsonPieces } from './large-answer.ts';

async function read(value: object): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of jsonPieces(value)) pieces.push(piece);
  return pieces;
}

test('the pieces are the text that whole arrays would have', async () => {
  const entry = (i: number) => ({ i, text: `"${i}"\u0000é`, none: i % 2 ? null : undefined });
  const numbers = Array.from({ length: 20_000 }, (_, i) => i);
  const answer = <L>(list: L, empty: L) => ({ a: 'x', choices: [{ list }, { list: empty, after: [1] }], end: null });
  const pieces = await read(answer(lazily(numbers, entry), new LazyList<ReturnType<typeof entry>>()));
  expect(pieces.length).toBeGreaterThan(5);
  expect(pieces.join('')).toBe(JSON.stringify(answer(numbers.map(entry), [])));
});

test('a short answer is one piece, and lists that follow one another are one list', async () => {
  const joined = new LazyList(lazily([1, 2], String), [], lazily([3], String));
  expect(await read({ joined, none: null })).toEqual(['{"joined":["1","2","3"],"none":null}']);
});

test('packed numbers are a list', async () => {
  const ids = Int32Array.from({ length: 30_000 }, (_, i) => i - 7);
  const pieces = await read({ ids, none: new Int32Array(0), few: ids.subarray(0, 2) });
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join('')).toBe(JSON.stringify({ ids: [...ids], none: [], few: [-7, -6] }));
});

test('the event loop goes on while a long list is written', async () => {
  let turns = 0;
  let isDone = false;
  const count = (): void => void (turns++, isDone || setImmediate(count));
  setImmediate(count);
  const entry = () => Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`token ${i}`, -i / 3]));
  await read({ list: lazily(Array.from({ length: 20_000 }), entry) });
  isDone = true;
  expect(turns).toBeGreaterThan(5);
});
