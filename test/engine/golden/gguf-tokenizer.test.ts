// Tokenizers stored in the metadata of a GGUF file make the same ids as tokenizer.json; llama.cpp, if installed, makes them too.
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenizerOf } from '#model-files/gguf/gguf-tokenizer';
import { readMetadata } from '#model-files/gguf/metadata';
import { text } from '#model-files/gguf/model-metadata';
import { tokenizerMetadata } from '#model-files/gguf/tokenizer-metadata';
import { writeGguf, type TypedValue } from '#model-files/gguf/write-gguf';
import { readTokenizer, type Tokenizer } from '#text/tokenizer';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { skipWithout } from '../../support/skipping.ts';
import { fixturePath, readFixture } from '../../support/golden/fixture.ts';
import { findLlamaCpp } from './llama-cpp.ts';

const llamaCpp = await findLlamaCpp();
const ROWS = 2048; // more rows than tokens: embeddings are padded

const TEXTS = [
  ...readFixture<{ texts: { text: string }[] }>('tokenizers/qwen/expected.json').texts.map((each) => each.text),
  "It's 12,345.67 €; I'VE DON'T we'll 'some quoted' words",
  '   leading,  double   and trailing   ',
  'tabs\tand\r\nlines\n\n\n  of code:\n\tif (x) {\n\t\treturn 0;\n\t}',
  'Ünïcödé 世界 こんにちは 한국어 العربية हिन्दी 👩‍👩‍👧 e\u0301',
  '<|im_start|>user\nHi<|im_end|>\n<tool_call>{"a": 1}</tool_call><|eot_id|>',
];

let scratch: string;
beforeAll(async () => void (scratch = await mkdtemp(join(tmpdir(), 'whetstone-gguf-'))));
afterAll(() => rm(scratch, { recursive: true }));

const asRead = (values: Readonly<Record<string, TypedValue>>) =>
  readMetadata(new Map(Object.entries(values).map(([key, { value }]) => [key, value])), 'model.gguf');

async function throughMetadata(values: Readonly<Record<string, TypedValue>>): Promise<Tokenizer> {
  const { tokenizer, tokenizerConfig } = tokenizerOf(asRead(values));
  await writeFile(join(scratch, 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(join(scratch, 'tokenizer_config.json'), JSON.stringify(tokenizerConfig));
  return readTokenizer(scratch);
}

const GENERAL: Record<string, TypedValue> = { 'general.architecture': text('llama') };

describe.each([
  ['the starter', STARTER_DIRECTORY, 'ufakzeka'],
  ['a tokenizer like Qwen’s', fixturePath('tokenizers/qwen'), 'qwen2'],
  ['a tokenizer like Llama 3’s', fixturePath('tokenizers/llama3'), 'llama-bpe'],
])('%s', (_, directory, pre) => {
  test('makes the same ids from metadata as from tokenizer.json, and the same text of them', async () => {
    const values = { ...GENERAL, ...(await tokenizerMetadata(directory, ROWS)) };
    expect(values['tokenizer.ggml.pre']).toEqual(text(pre));
    const [original, copy] = [await readTokenizer(directory), await throughMetadata(values)];
    expect(copy.vocabSize).toBe(original.vocabSize);
    for (const each of TEXTS) {
      for (const addSpecialTokens of [false, true]) {
        const ids = original.encode(each, { addSpecialTokens });
        expect(copy.encode(each, { addSpecialTokens }), each).toEqual(ids);
        expect(copy.decode(ids)).toBe(original.decode(ids));
      }
    }
  });

  test(
    'makes the same ids in llama.cpp, which normalises nothing',
    skipWithout('LLAMA_CPP', llamaCpp !== null),
    async () => {
      const path = join(scratch, 'vocabulary.gguf');
      await writeGguf(path, { ...GENERAL, ...(await tokenizerMetadata(directory, ROWS)) }, []);
      const original = await readTokenizer(directory);
      const texts = TEXTS.filter((each) => each !== '' && each === each.normalize('NFC'));
      const llama = await llamaCpp!();
      expect(await llama.tokenize(path, texts)).toEqual(texts.map((each) => original.encode(each)));
      await llama.close();
    },
  );
});

test('control tokens at the beginning of the vocabulary keep their ids in every library that reads tokenizer.json', () => {
  const tokens = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', 'a', 'b', 'ab'];
  const { tokenizer } = tokenizerOf(
    asRead({
      ...GENERAL,
      'tokenizer.ggml.model': text('gpt2'),
      'tokenizer.ggml.pre': text('smollm'),
      'tokenizer.ggml.tokens': { type: 'string', value: tokens },
      'tokenizer.ggml.token_type': { type: 'i32', value: [3, 3, 3, 1, 1, 1] },
      'tokenizer.ggml.merges': { type: 'string', value: ['a b'] },
    }),
  );
  // The library `tokenizers` takes the id of an added token from the vocabulary, and a new one if it is not there.
  const { vocab } = tokenizer['model'] as { vocab: Record<string, number> };
  expect(vocab).toEqual(Object.fromEntries(tokens.map((token, id) => [token, id])));
});

/** Pieces with scores, like SentencePiece's: bytes, characters, and words of them. */
function sentencePieceVocabulary(): Record<string, TypedValue> {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  const words = [
    '▁t',
    'he',
    '▁the',
    '▁a',
    'in',
    'ing',
    '▁hel',
    'lo',
    '▁hello',
    '▁▁',
    'er',
    'ell',
    '▁he',
    'hel',
    'orld',
    '▁w',
    '▁world',
  ];
  const characters = [...new Set([...words.join(''), ...'abcdefghijklmnopqrstuvwxyz,.!'])];
  const parts = ['or', 'ld', 'll', '▁h', 'th', 'el'];
  const pieces = [...words, ...parts];
  const tokens = ['<unk>', '<s>', '</s>', ...bytes, ...pieces, ...characters];
  const types = [2, 3, 3, ...bytes.map(() => 6), ...pieces.map(() => 1), ...characters.map(() => 1)];
  const scores = tokens.map((_, id) => (id < 259 ? 0 : -(id - 259)));
  return {
    ...GENERAL,
    'tokenizer.ggml.model': text('llama'),
    'tokenizer.ggml.tokens': { type: 'string', value: tokens },
    'tokenizer.ggml.token_type': { type: 'i32', value: types },
    'tokenizer.ggml.scores': { type: 'f32', value: scores },
    'tokenizer.ggml.bos_token_id': { type: 'u32', value: 1 },
    'tokenizer.ggml.eos_token_id': { type: 'u32', value: 2 },
    'tokenizer.ggml.unknown_token_id': { type: 'u32', value: 0 },
    'tokenizer.ggml.add_bos_token': { type: 'bool', value: true },
  };
}

describe.each([true, false])('SentencePiece, a space put before texts: %s', (prefix) => {
  const values = {
    ...sentencePieceVocabulary(),
    'tokenizer.ggml.add_space_prefix': { type: 'bool', value: prefix } as const,
  };
  const texts = [
    'hello world',
    'the  hello, in a world!',
    ' leading',
    'é 世界 🙂',
    'telling\nother',
    'worldworld thethe',
  ];

  test('texts become ids and texts again', async () => {
    const tokenizer = await throughMetadata(values);
    for (const each of texts) expect(tokenizer.decode(tokenizer.encode(each))).toBe(each);
    expect(tokenizer.encode('hello', { addSpecialTokens: true })[0]).toBe(1);
  });

  test('the ids are those of llama.cpp', skipWithout('LLAMA_CPP', llamaCpp !== null), async () => {
    const path = join(scratch, 'sentencepiece.gguf');
    await writeGguf(path, values, []);
    const tokenizer = await throughMetadata(values);
    const llama = await llamaCpp!();
    expect(texts.map((each) => tokenizer.encode(each))).toEqual(await llama.tokenize(path, texts));
    await llama.close();
  });
});

test(
  'Phi-3’s special tokens take the white space behind them as in llama.cpp',
  skipWithout('LLAMA_CPP', llamaCpp !== null),
  async () => {
    const pieces = sentencePieceVocabulary();
    const added = ['<|endoftext|>', '<|user|>', '<|end|>', '<|assistant|>'];
    const withAdded = (key: string, more: readonly (string | number)[]): Record<string, TypedValue> => {
      const { type, value } = pieces[`tokenizer.ggml.${key}`]!;
      return { [`tokenizer.ggml.${key}`]: { type, value: [...(value as (string | number)[]), ...more] } };
    };
    const values = {
      ...pieces,
      ...withAdded('tokens', added),
      ...withAdded('token_type', [3, 3, 3, 3]),
      ...withAdded('scores', [-1000, -1000, -1000, -1000]),
      'general.architecture': text('phi3'),
      'general.name': text('Phi-3'), // llama.cpp knows the model by its name
    };
    const path = join(scratch, 'phi3.gguf');
    await writeGguf(path, values, []);
    const tokenizer = await throughMetadata(values);
    const texts = ['<|user|>\nhello<|end|>\n<|assistant|>\n', '<|end|> \n\n the<|endoftext|>\n</s>  a<s> b'];
    const llama = await llamaCpp!();
    expect(texts.map((each) => tokenizer.encode(each))).toEqual(await llama.tokenize(path, texts));
    await llama.close();
  },
);

test.each<[string, Record<string, TypedValue>, RegExp]>([
  [
    'an unknown pre-tokenizer',
    { 'tokenizer.ggml.pre': text('bloom') },
    /pre-tokenizer "bloom" is not supported; supported are gpt-2/,
  ],
  ['no pre-tokenizer', { 'tokenizer.ggml.pre': text('default') }, /has no pre-tokenizer/],
  [
    'another kind',
    { 'tokenizer.ggml.model': text('bert') },
    /its tokenizer "bert" is not supported; gpt2 .* and llama/,
  ],
  ['no tokens', { 'tokenizer.ggml.tokens': { type: 'string', value: [] } }, /has no tokenizer\.ggml\.tokens/],
])('%s is refused by name', async (_, change, message) => {
  const values = { ...GENERAL, ...(await tokenizerMetadata(STARTER_DIRECTORY, ROWS)), ...change };
  expect(() => tokenizerOf(asRead(values))).toThrow(message);
});

test('add_bos_token beside a tokenizer.json without processor changes nothing, here and in llama.cpp', async () => {
  const read = async (path: string) =>
    JSON.parse(await readFile(join(fixturePath('tokenizers/llama3'), path), 'utf8')) as Record<string, unknown>;
  const files = {
    'tokenizer.json': { ...(await read('tokenizer.json')), post_processor: null },
    'tokenizer_config.json': { ...(await read('tokenizer_config.json')), add_bos_token: true },
  };
  for (const [name, json] of Object.entries(files)) await writeFile(join(scratch, name), JSON.stringify(json));
  const tokenizer = await readTokenizer(scratch);
  expect(tokenizer.encode('a', { addSpecialTokens: true })).toEqual(tokenizer.encode('a'));
  expect((await tokenizerMetadata(scratch, ROWS))['tokenizer.ggml.add_bos_token']).toMatchObject({ value: false });
});

test.each<[string, (path: string, json: Record<string, unknown>) => Promise<void>, RegExp]>([
  [
    'a negative id',
    (path, json) => writeFile(path, JSON.stringify({ ...json, model: { type: 'BPE', vocab: { x: -1 }, merges: [] } })),
    /token "x" has id -1/,
  ],
  ['no object', (path) => writeFile(path, 'null'), /tokenizer\.json is not a JSON object/],
  ['more bytes than a tokenizer has', (path) => truncate(path, 2 ** 31), /Cannot read .*: it has 2147483648 bytes/],
])('a tokenizer.json with %s is not exported', async (_, change, message) => {
  const path = join(scratch, 'tokenizer.json');
  const json = await readFile(join(STARTER_DIRECTORY, 'tokenizer.json'), 'utf8');
  await writeFile(path, json);
  await change(path, JSON.parse(json) as Record<string, unknown>);
  await expect(tokenizerMetadata(scratch, ROWS)).rejects.toThrow(message);
});
