// A hundred tokenizers against two hundred texts: ids, places and decoded text, whole and streamed, as the package `tokenizers` gives them.
// `python make_tokenizer_corpus.py TOKENIZER TEXT` in python/golden prints what a digest stands for.
import { describe, expect, test } from 'vitest';
import { createDetokenizer } from '#text/detokenizer';
import type { Tokenizer } from '#text/tokenizer';
import { corpus, digestOf, digestOfSequence, tokenizerOf } from '../../../test/support/golden/tokenizer-corpus.ts';

const texts = Object.entries(corpus.texts);
const PARTS = ['ids', 'places', 'decoded text'];

/** The parts of two digests that differ; where the package crashes, nothing is compared. */
function differing(found: string, expected: string): string[] {
  if (found === 'none' || expected === 'none') return found === expected ? [] : ['whether it has tokens'];
  return PARTS.filter((_, part) => {
    const [ours, theirs] = [found, expected].map((digests) => digests.slice(6 * part, 6 * part + 6));
    return ours !== theirs && theirs !== 'panics';
  });
}

function streamed(tokenizer: Tokenizer, ids: readonly number[], skipSpecialTokens: boolean): string {
  const { push, flush } = createDetokenizer(tokenizer, { skipSpecialTokens });
  return ids.map(push).join('') + flush();
}

test('there are a hundred tokenizers and two hundred texts', () => {
  expect(Object.keys(corpus.configurations).length).toBeGreaterThanOrEqual(100);
  expect(texts.length).toBeGreaterThanOrEqual(200);
});

describe.each(Object.entries(corpus.configurations))('%s', (_, configuration) => {
  const tokenizer = tokenizerOf(configuration);
  const expected = configuration.digests.split(' ');

  test('all texts have the ids, places and text of the package', () => {
    const wrong = texts.flatMap(([name, text], i) => {
      const parts = differing(digestOf(tokenizer, text), expected[i]!);
      return parts.length > 0 ? [`${name}: ${parts.join(', ')}`] : [];
    });
    expect(wrong).toEqual([]);
  });

  test('tokens in any order give the text of the package', () => {
    for (const [ids, digest] of configuration.sequences)
      if (digest !== 'panics') expect(digestOfSequence(tokenizer, ids), ids.join()).toBe(digest);
  });

  test('a stream gives the same text as the whole', () => {
    for (const [ids] of configuration.sequences)
      for (const skipped of [true, false])
        expect(streamed(tokenizer, ids, skipped)).toBe(tokenizer.decode(ids, { skipSpecialTokens: skipped }));
  });
});
