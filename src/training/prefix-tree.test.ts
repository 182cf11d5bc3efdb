import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPrefixTree } from './prefix-tree.ts';

/** Few tokens, so that random sequences share prefixes. */
const sequences = fc.array(fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 8 }), { minLength: 1 });

test('a sequence adds as many tokens as its cost said, and a prefix of another adds none', () => {
  const tree = createPrefixTree();
  for (const [tokens, cost] of [
    [[1, 2, 3, 4], 4],
    [[1, 2, 5], 1],
    [[1, 2], 0],
    [[1, 2, 3, 4, 9], 1],
    [[7], 1],
  ] as const) {
    expect(tree.cost(Int32Array.from(tokens))).toBe(cost);
    const before = tree.size;
    tree.add(Int32Array.from(tokens));
    expect(tree.size - before).toBe(cost);
  }
});

test('following the parents of its last token returns each sequence, with its positions', () => {
  fc.assert(
    fc.property(sequences, (all) => {
      const tree = createPrefixTree();
      all.forEach((tokens) => tree.add(Int32Array.from(tokens)));
      const { tokens, positions, segments, parents, places } = tree.lay();
      expect(tokens).toHaveLength(tree.size);
      expect(tree.size).toBe(new Set(all.flatMap((s) => s.map((_, i) => s.slice(0, i + 1).join()))).size);
      all.forEach((sequence, number) => {
        expect([...places[number]!].map((place) => tokens[place])).toEqual(sequence);
        expect([...places[number]!].map((place) => positions[place])).toEqual(sequence.map((_, i) => i));
        const last = segments[places[number]!.at(-1)!]!;
        const ancestors = new Set<number>();
        for (let segment = last; segment !== -1; segment = parents[segment]!) ancestors.add(segment);
        const seen = [...tokens.keys()].filter((i) => i <= places[number]!.at(-1)! && ancestors.has(segments[i]!));
        expect(seen).toEqual([...places[number]!]); // a token sees its own sequence and nothing else
      });
    }),
  );
});
