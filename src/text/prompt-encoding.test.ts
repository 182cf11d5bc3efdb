import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPromptEncoding } from './prompt-encoding.ts';
import { readTokenizer } from './tokenizer.ts';

const directory = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const TOKENIZERS = [
  ['models/starter', '<|im_end|>'],
  ['test/support/golden/fixtures/tokenizers/qwen', '<|im_end|>'],
  ['test/support/golden/fixtures/tokenizers/llama3', '<|eot_id|>'],
] as const;

test.each(TOKENIZERS)('%s: texts in pieces give the tokens of the whole text', async (path, turnEnd) => {
  const tokenizer = await readTokenizer(directory(path));
  expect(tokenizer.encode(turnEnd)).toHaveLength(1);
  const encode = createPromptEncoding(tokenizer, turnEnd);
  const part = fc.oneof(
    fc.constantFrom(turnEnd, '\n', ' ', '<|im_start|>', '<|im_', 'end|>', 'hello', ' 12', '<'),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const text = parts.join('');
      expect(encode(text)).toEqual(tokenizer.encode(text));
    }),
  );
});

test('text that was encoded once is not encoded again; only a new turn is', () => {
  const seen: string[] = [];
  const encode = createPromptEncoding({ encode: (text) => ids(text, seen) }, '|');
  seen.length = 0;
  expect(encode('one|two|thr')).toEqual(ids('one|two|thr'));
  expect(encode('one|two|three|')).toEqual(ids('one|two|three|'));
  expect(seen).toEqual(['one|', 'two|', 'thr', 'three|']);
});

test('a tokenizer that inserts a space before each text, or removes one after a token, receives whole texts', () => {
  for (const change of [(text: string) => ` ${text}`, (text: string) => text.replaceAll(/\| +/g, '|')]) {
    const seen: string[] = [];
    const encode = createPromptEncoding({ encode: (text) => ids(change(text), seen) }, '|');
    seen.length = 0;
    expect(encode('one|two| three')).toEqual(ids(change('one|two| three')));
    expect(seen).toHaveLength(1);
  }
});

function ids(text: string, seen: string[] = []): number[] {
  seen.push(text);
  return [...text].map((character) => character.codePointAt(0)!);
}
