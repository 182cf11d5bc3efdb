import { expect, test } from 'vitest';
import { writeAttentionMask } from './attention-mask.ts';

/** One string per token: 1 for each token that it attends to. */
function picture(segments: number[], parents: number[]): string[] {
  const size = segments.length;
  const mask = new Float32Array(size * size);
  writeAttentionMask({ segments: Int32Array.from(segments), parents: Int32Array.from(parents) }, mask);
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
  const mask = new Float32Array(9);
  writeAttentionMask({ segments: Int32Array.of(0, 0), parents: Int32Array.of(-1) }, mask, 3);
  expect([...mask].map((x) => (x === 0 ? 1 : 0))).toEqual([1, 0, 0, 1, 1, 0, 0, 0, 1]);
});
