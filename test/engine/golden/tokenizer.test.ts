// Token ids and decoded text compared with the tokenizers package, for tokenizers like those of Qwen and Llama 3.
import { expect, describe, test } from 'vitest';
import { readTokenizer } from '#text/tokenizer';
import { fixturePath, readFixture } from '../../support/golden/fixture.ts';

interface ExpectedText {
  readonly name: string;
  readonly text: string;
  readonly ids: readonly number[];
  readonly idsWithSpecialTokens: readonly number[];
  readonly decoded: string;
  readonly decodedWithoutSpecialTokens: string;
}

describe.each(['qwen', 'llama3'])('%s', async (style) => {
  const tokenizer = await readTokenizer(fixturePath(`tokenizers/${style}`));
  const { texts } = readFixture<{ texts: ExpectedText[] }>(`tokenizers/${style}/expected.json`);

  test.each(texts)('encodes $name to the ids of the reference', ({ text, ids, idsWithSpecialTokens }) => {
    expect(tokenizer.encode(text)).toEqual(ids);
    expect(tokenizer.encode(text, { addSpecialTokens: true })).toEqual(idsWithSpecialTokens);
  });

  test.each(texts)('decodes $name to the text of the reference', ({ ids, decoded, decodedWithoutSpecialTokens }) => {
    expect(tokenizer.decode(ids, { skipSpecialTokens: false })).toBe(decoded);
    expect(tokenizer.decode(ids)).toBe(decodedWithoutSpecialTokens);
  });
});
