import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDetokenizer } from './detokenizer.ts';
import { readTokenizerFiles } from './tokenizer-files.ts';
import { readTokenizer, type Tokenizer } from './tokenizer.ts';

const fixture = (style: string) =>
  fileURLToPath(new URL(`../../test/support/golden/fixtures/tokenizers/${style}`, import.meta.url));
const qwen = await readTokenizer(fixture('qwen'));
const llama3 = await readTokenizer(fixture('llama3'));

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tokenizer-'));
});
afterAll(() => rm(directory, { recursive: true }));

const letters = ['▁', 'h', 'e', 'l', 'o', '▁hello', '▁he', 'llo', 'll', '▁h'];
const sentencepiece = {
  added_tokens: [
    { id: 0, content: '<unk>', special: true },
    { id: 1, content: '<s>', special: true },
    { id: 2, content: '</s>', special: true },
  ],
  normalizer: {
    type: 'Sequence',
    normalizers: [
      { type: 'Prepend', prepend: '▁' },
      { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
    ],
  },
  pre_tokenizer: null,
  post_processor: null,
  decoder: {
    type: 'Sequence',
    decoders: [
      { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
      { type: 'ByteFallback' },
      { type: 'Fuse' },
      { type: 'Strip', content: ' ', start: 1, stop: 0 },
    ],
  },
  model: {
    type: 'BPE',
    unk_token: '<unk>',
    byte_fallback: true,
    vocab: Object.fromEntries([
      ...['<unk>', '<s>', '</s>'].map((token, id) => [token, id] as const),
      ...Array.from(
        { length: 256 },
        (_, byte) => [`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, 3 + byte] as const,
      ),
      ...letters.map((token, index) => [token, 259 + index] as const),
    ]),
    merges: ['▁ h', '▁h e', 'l l', 'll o', '▁he llo'],
  },
};

async function open(tokenizer: object, config: object = {}): Promise<Tokenizer> {
  await writeFile(join(directory, 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(join(directory, 'tokenizer_config.json'), JSON.stringify(config));
  return readTokenizer(directory);
}

function detokenize(
  tokenizer: Tokenizer,
  ids: readonly number[],
  skipSpecialTokens: boolean,
): { pieces: string[]; text: string } {
  const detokenizer = createDetokenizer(tokenizer, { skipSpecialTokens });
  const pieces = ids.map((id) => detokenizer.push(id));
  return { pieces, text: pieces.join('') + detokenizer.flush() };
}

describe('properties', () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 });

  test('any text survives encoding and decoding, up to the normal form if the tokenizer normalises', () => {
    fc.assert(
      fc.property(text, (original) => {
        expect(llama3.decode(llama3.encode(original))).toBe(original);
        expect(qwen.decode(qwen.encode(original))).toBe(original.normalize('NFC'));
      }),
    );
  });

  test('streaming any tokens gives the same text as decoding all of them', async () => {
    const tokenizers = [qwen, llama3, await open(sentencepiece)];
    fc.assert(
      fc.property(
        fc.constantFrom(...tokenizers),
        fc.array(fc.nat(1000), { maxLength: 40 }),
        fc.boolean(),
        (tokenizer, numbers, skipSpecialTokens) => {
          const ids = numbers.map((number) => number % (tokenizer.vocabSize + 3)); // some beyond the vocabulary
          expect(detokenize(tokenizer, ids, skipSpecialTokens).text).toBe(tokenizer.decode(ids, { skipSpecialTokens }));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('no piece of a streamed text has half a character', () => {
    fc.assert(
      fc.property(text, (original) => {
        const { pieces, text: streamed } = detokenize(llama3, llama3.encode(original), true);
        expect(streamed).toBe(original);
        if (!original.includes('\ufffd'))
          for (const piece of pieces) expect(piece).not.toMatch(/[\ufffd\ud800-\udfff]/u);
      }),
    );
  });

  test('the bytes of all tokens are the bytes of the text', () => {
    fc.assert(
      fc.property(text, (original) => {
        const bytes = llama3.encode(original).map((id) => llama3.tokenBytes(id));
        expect(Buffer.concat(bytes).toString('utf8')).toBe(original);
      }),
    );
  });
});

describe('byte-level tokens', () => {
  test('an emoji that takes several tokens arrives with its last byte', () => {
    const ids = llama3.encode('ok 🦕!');
    const { pieces } = detokenize(llama3, ids, true);
    expect(pieces.join('')).toBe('ok 🦕!');
    expect(pieces.filter((piece) => piece.includes('🦕'))).toHaveLength(1);
    expect(pieces.filter((piece) => piece === '').length).toBeGreaterThan(0);
  });

  test('a character that is never finished ends as U+FFFD', () => {
    const [first] = llama3.encode('🦕');
    expect(detokenize(llama3, [first!], true).text).toBe('\ufffd');
    expect(llama3.tokenText(first!)).toBe('\ufffd');
  });

  test('special tokens are text only when asked for', () => {
    const ids = llama3.encode('a<|eot_id|>b');
    expect(llama3.decode(ids)).toBe('ab');
    expect(llama3.decode(ids, { skipSpecialTokens: false })).toBe('a<|eot_id|>b');
    const eot = llama3.tokenId('<|eot_id|>')!;
    expect(llama3.isSpecial(eot)).toBe(true);
    expect(llama3.tokenText(eot)).toBe('<|eot_id|>');
    expect(ids).toContain(eot);
  });

  test('unused ids decode to nothing, and unknown tokens have no id', () => {
    expect(llama3.tokenBytes(llama3.vocabSize + 5)).toHaveLength(0);
    expect(llama3.isSpecial(llama3.vocabSize + 5)).toBe(false);
    expect(llama3.tokenId('<|no_such_token|>')).toBeNull();
    expect(llama3.vocabSize).toBe(485);
  });
});

describe('sentencepiece tokens', () => {
  test('spaces are marks inside words, and the one in front of a text is the tokenizer’s own', async () => {
    const tokenizer = await open(sentencepiece);
    const ids = tokenizer.encode('hello hello');
    expect(ids.map((id) => tokenizer.tokenText(id))).toEqual([' hello', ' hello']);
    expect(tokenizer.decode(ids)).toBe('hello hello');
    expect(detokenize(tokenizer, ids, true).pieces).toEqual(['hello', ' hello']);
  });

  test('text that no token covers is encoded byte by byte, and decodes unchanged', async () => {
    const tokenizer = await open(sentencepiece);
    const ids = tokenizer.encode('hello é🦕');
    expect(tokenizer.decode(ids)).toBe('hello é🦕');
    expect(detokenize(tokenizer, ids, true).text).toBe('hello é🦕');
    expect(Array.from(tokenizer.tokenBytes(tokenizer.tokenId('<0xC3>')!))).toEqual([0xc3]);
  });
});

describe('special tokens of a directory', () => {
  const plain = { ...sentencepiece, added_tokens: [{ id: 0, content: '<unk>', special: true }] };

  test('tokenizer_config.json adds to those of tokenizer.json', async () => {
    const tokenizer = await open(plain, { added_tokens_decoder: { '269': { content: '<|tool|>', special: true } } });
    expect(tokenizer.tokenId('<|tool|>')).toBe(269);
    expect(tokenizer.isSpecial(269)).toBe(true);
    expect(tokenizer.vocabSize).toBe(270);
  });

  test('each named token is a variable of templates, as in Transformers', async () => {
    const config = { image_token: '<image>', extra_special_tokens: { boi_token: '</s>' }, add_bos_token: true };
    await open(plain, config);
    const { namedTokens } = await readTokenizerFiles(directory);
    expect(Object.fromEntries(namedTokens)).toEqual({ image_token: '<image>', boi_token: '</s>' });
  });

  test('a token of the vocabulary that has a name is special', async () => {
    const tokenizer = await open(plain, { eos_token: { content: '</s>' } });
    expect(tokenizer.isSpecial(2)).toBe(true);
    expect(tokenizer.isSpecial(1)).toBe(false);
    expect(tokenizer.encode('</s>')).toEqual([2]);
  });
});

describe('tokenizers that cannot be used', () => {
  const split = (pattern: object, rest: object = { behavior: 'Isolated', invert: false }) => ({
    ...sentencepiece,
    pre_tokenizer: { type: 'Split', pattern, ...rest },
  });
  const model = (changes: object) => ({ ...sentencepiece, model: { ...sentencepiece.model, ...changes } });
  const decoder = (...decoders: object[]) => ({ ...sentencepiece, decoder: { type: 'Sequence', decoders } });

  test.each([
    [
      'an unknown decoder',
      decoder({ type: 'Magic' }),
      /decoder\.decoders\[0\] has the type "Magic"; known are ByteLevel/,
    ],
    [
      'a decoder that needs tokens after they were joined',
      decoder({ type: 'Fuse' }, { type: 'WordPiece', prefix: '##', cleanup: true }),
      /decoders\[1\] has the type "WordPiece"; after tokens were joined, known are Fuse, Strip/,
    ],
    ['an unknown model', model({ type: 'Magic' }), /model has the type "Magic"; known are BPE/],
    ['an unknown normalizer', { ...sentencepiece, normalizer: { type: 'Magic' } }, /normalizer has the type "Magic"/],
    [
      'an unknown processor',
      { ...sentencepiece, post_processor: { type: 'Magic' } },
      /post_processor has the type "Magic"/,
    ],
    [
      'a pre-tokenizer that is not supported',
      { ...sentencepiece, pre_tokenizer: { type: 'Syllables' } },
      /pre_tokenizer has the type "Syllables"; known are Split/,
    ],
    [
      'an unknown behavior',
      split({ String: ' ' }, { behavior: 'Magic', invert: false }),
      /must have behavior, one of Removed, .* got "Magic"/,
    ],
    ['a split without its pattern', split({}), /must have pattern, \{"String": …\} or \{"Regex": …\}, got \{\}/],
    ['a back reference', split({ Regex: '(a)\\1' }), /"\(a\)\\\\1", which has \\1, which is not supported/],
    ['an expression that is never closed', split({ Regex: '(a' }), /a group that is never closed/],
    ['a property that nobody knows', split({ Regex: '\\p{Magic}' }), /\\p\{Magic\}, which names no known property/],
    ['a case that one character stands for', split({ Regex: '(?i:ss)' }), /ignores the case of ss/],
    ['looking back at any length', split({ Regex: '(?<=a+)b' }), /looks back at text of any length/],
    ['dropout', model({ dropout: 0.1 }), /model has a dropout/],
    ['a merge of unknown tokens', model({ merges: ['x y'] }), /the merge "x y" of tokens that are not in its vocab/],
    [
      'bytes beside a prefix',
      model({ continuing_subword_prefix: '##' }),
      /byte_fallback beside continuing_subword_prefix/,
    ],
    [
      'tokens that are the same after normalization',
      {
        ...sentencepiece,
        normalizer: { type: 'Lowercase' },
        added_tokens: ['Foo', 'foo'].map((content, i) => ({ id: 269 + i, content, special: false, normalized: true })),
      },
      /added_tokens has "foo", which is the same as "Foo" after normalization/,
    ],
  ])('%s is refused', async (_, tokenizer, message) => {
    await expect(open(tokenizer)).rejects.toMatchObject({
      code: 'bad_model_files',
      message: expect.stringMatching(message) as string,
    });
  });

  test('a directory without tokenizer.json says so', async () => {
    await expect(readTokenizer(join(directory, 'absent'))).rejects.toThrow(/absent has no tokenizer\.json/);
  });
});

test('a token is found by its bytes if no other token has the same bytes', () => {
  for (const tokenizer of [qwen, llama3]) {
    for (let id = 0; id < tokenizer.vocabSize; id++) {
      const bytes = tokenizer.tokenBytes(id);
      const found = tokenizer.tokenOfBytes(bytes);
      if (found !== null) expect(found).toBe(id);
      else if (bytes.length > 0) expect(tokenizer.isSpecial(id)).toBe(false);
    }
    expect(tokenizer.tokenOfBytes(new Uint8Array(0))).toBeNull();
    expect(tokenizer.tokenOfBytes(Buffer.from('no such token'))).toBeNull();
  }
});
