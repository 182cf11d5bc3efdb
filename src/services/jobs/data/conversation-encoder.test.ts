// The tokens of examples, and which of them are trained, as Transformers gives them for 47 chat templates with 8 kinds of tokenizers
// (python/golden/make_examples.py).
import { describe, expect, test } from 'vitest';
import { readSftLine } from '#rows/sft';
import { tokenizeSftRow } from '#training/sft-rows';
import { encoderOf, examples } from '../../../../test/support/golden/examples.ts';

function rowOf(name: string) {
  const read = readSftLine(examples.rows[name]!);
  if ('problem' in read) throw new Error(read.problem);
  return read.row;
}

const runsOf = (trained: Uint8Array): [number, number][] => {
  const edges = Array.from({ length: trained.length + 1 }, (_, i) => i).filter(
    (i) => (trained[i - 1] ?? 0) !== (trained[i] ?? 0),
  );
  return edges.flatMap((edge, i) => (i % 2 === 0 ? [[edge, edges[i + 1]!] as [number, number]] : []));
};

describe.each(examples.cases)('$template with the tokenizer $tokenizer', (each) => {
  for (const { name, refused, ids, sequences: expected } of each.conversations) {
    test(name, async () => {
      const { encoder } = encoderOf(each);
      const read = tokenizeSftRow(rowOf(name), encoder, 'all');
      if (refused !== undefined) {
        await expect(read).rejects.toThrow(refused);
        return;
      }
      const { sequences } = await read;
      if (expected) {
        const found = sequences.map(({ tokens, trained }) => ({ ids: [...tokens], trained: runsOf(trained) }));
        expect(found).toEqual(expected);
        return;
      }
      const last = sequences.at(-1)!;
      expect([...last.tokens].slice(0, ids.length)).toEqual(ids.slice(0, last.tokens.length));
      expect(each.stops.map((stop) => encoder.findToken(stop))).toContain(last.tokens.at(-1));
    });
  }
});
