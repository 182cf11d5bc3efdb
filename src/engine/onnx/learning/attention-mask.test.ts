import { expect, test } from 'vitest';
import { attentionBlocks, type RowSegments } from './attention-mask.ts';

const rowOf = (segments: number[], parents: number[]): RowSegments => ({
  segments: Int32Array.from(segments),
  parents: Int32Array.from(parents),
});

/** One string per token: 1 for each token that it attends to. */
function picture(segments: number[], parents: number[], size = segments.length): string[] {
  const { keys, mask } = attentionBlocks([rowOf(segments, parents)], size, size);
  expect([...keys]).toEqual(Array.from({ length: size }, (_, i) => BigInt(i)));
  return Array.from({ length: size }, (_, i) =>
    [...mask.subarray(i * size, (i + 1) * size)].map((x) => (x === 0 ? 1 : 0)).join(''),
  );
}

test('one segment is causal', () => {
  expect(picture([0, 0, 0], [-1])).toEqual(['100', '110', '111']);
});

test('independent segments do not see each other', () => {
  expect(picture([0, 0, 1, 1], [-1, -1])).toEqual(['1000', '1100', '0010', '0011']);
});

test('siblings share their prompt and stay blind to each other; grandchildren see the whole line', () => {
  const prompt = 0;
  const [first, second, afterFirst] = [1, 2, 3];
  expect(picture([prompt, prompt, first, second, second, afterFirst], [-1, prompt, prompt, first])).toEqual([
    '100000',
    '110000',
    '111000',
    '110100',
    '110110',
    '111001',
  ]);
});

test('a circle of parents is a bug, not an endless loop', () => {
  expect(() => picture([0, 1], [1, 0])).toThrow('no root');
});

test('padding after the row attends only to itself, and nothing attends to it', () => {
  expect(picture([0, 0], [-1], 3)).toEqual(['100', '110', '001']);
});

/** The tokens of each block, as its queries see them. */
function blocksOf(rows: readonly RowSegments[], size: number, block: number) {
  const { keys, mask, keyStarts, maskStarts } = attentionBlocks(rows, size, block);
  return Array.from({ length: keyStarts.length - 1 }, (_, b) => {
    const own = keys.subarray(Number(keyStarts[b]), Number(keyStarts[b + 1]));
    const pairs = mask.subarray(Number(maskStarts[b]), Number(maskStarts[b + 1]));
    return { keys: [...own].map(Number), mask: [...pairs].map((x) => (x === 0 ? 1 : 0)).join('') };
  });
}

test('a block has the keys that its queries see: not those of other answers, nor of other examples', () => {
  const [prompt, first, second, other] = [0, 1, 2, 3];
  const row = rowOf([prompt, prompt, first, first, second, second, other], [-1, prompt, prompt, -1]);
  expect(blocksOf([row], 7, 2)).toEqual([
    { keys: [0, 1], mask: '1011' },
    { keys: [0, 1, 2, 3], mask: '11101111' },
    { keys: [0, 1, 4, 5], mask: '11101111' },
    { keys: [6], mask: '1' },
  ]);
});

test('rows side by side share the keys of a block', () => {
  const rows = [rowOf([0, 0, 0, 1], [-1, -1]), rowOf([0, 1, 1], [-1, -1])];
  expect(blocksOf(rows, 4, 2)).toEqual([
    { keys: [0, 1], mask: '1011' + '1001' },
    { keys: [0, 1, 2, 3], mask: '11100001' + '01100001' },
  ]);
});
