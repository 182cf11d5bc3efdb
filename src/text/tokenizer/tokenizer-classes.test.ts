// Directories whose files say different things about one tokenizer, as AutoTokenizer of Transformers 5 loads them: its class, its named tokens,
// the added ones, and what begins a text (python/golden/make_tokenizer_classes.py).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AppError } from '#domain/errors';
import { createTokenizer } from '#text/tokenizer';
import { readTokenizerFiles } from '#text/tokenizer-files';
import { OTHER_CLASSES } from '#text/tokenizer/other-classes';
import { REBUILT } from '#text/tokenizer/rebuilt-classes';
import { readFixture } from '../../../test/support/golden/fixture.ts';
import { corpus, fileOf } from '../../../test/support/golden/tokenizer-corpus.ts';

type Json = Readonly<Record<string, unknown>>;
/** Of a text: ids, ids with special tokens, the text of these, and the same without special tokens. */
type Read = readonly [ids: readonly number[], whole: readonly number[], text: string, skipped: string];

interface Directory {
  /** Of tokenizer.json. */
  readonly changes: Json;
  /** As many tokens: with some that no text has. 0: as they are. */
  readonly padded: number;
  /** Beside it. */
  readonly files: Readonly<Record<string, Json>>;
}

const fixture = readFixture<{
  readonly classes: readonly string[];
  readonly texts: readonly string[];
  readonly results: readonly (readonly Read[])[];
  readonly cases: readonly (readonly [
    title: string,
    directory: Directory,
    /** Null: Transformers does not load it, or cannot read a text. */
    loadedAs: string | null,
    named: Readonly<Record<string, string>>,
    result: number,
  ])[];
}>('tokenizers/classes.json');

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tokenizer-classes-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function load(title: string, { changes = {}, padded = 0, files }: Partial<Directory>) {
  await rm(directory, { recursive: true });
  directory = await mkdtemp(join(tmpdir(), 'tokenizer-classes-'));
  const file: Json = { ...fileOf(corpus.configurations[title]!), ...changes };
  const all = { 'tokenizer.json': { ...file, model: withPadding(file.model as Json, padded) }, ...files };
  for (const [name, content] of Object.entries(all)) await writeFile(join(directory, name), JSON.stringify(content));
  const read = await readTokenizerFiles(directory);
  return { named: Object.fromEntries(read.namedTokens), tokenizer: createTokenizer(read, directory) };
}

function withPadding(model: Json, size: number): Json {
  if (size === 0) return model;
  const vocab = { ...(model.vocab as Readonly<Record<string, number>>) };
  for (let id = Object.keys(vocab).length; id < size; id++) vocab[`<pad ${id}>`] = id;
  return { ...model, vocab };
}

/** What Transformers makes of it, as in the fixture. */
async function reading(title: string, directory: Directory) {
  const { named, tokenizer } = await load(title, directory);
  const read = fixture.texts.map((text): Read => {
    const whole = tokenizer.encode(text, { addSpecialTokens: true });
    const texts = [false, true].map((skipSpecialTokens) => tokenizer.decode(whole, { skipSpecialTokens }));
    return [tokenizer.encode(text), whole, texts[0]!, texts[1]!];
  });
  return { named, read };
}

const groups = new Map<string, (typeof fixture.cases)[number][]>();
for (const each of fixture.cases) {
  const group = `${each[0]}, loaded as ${each[2]}`;
  groups.set(group, [...(groups.get(group) ?? []), each]);
}

test.each([...groups])('a file like that of %s', async (_, cases) => {
  for (const [title, directory, loadedAs, named, result] of cases) {
    const found = await reading(title, directory).catch((error: unknown) => {
      if (error instanceof AppError) return error.message;
      throw error;
    });
    const isListed = title === 'unigram' && loadedAs === 'LlamaTokenizer'; // Transformers takes it for a BPE without merges
    if (loadedAs === null || isListed) expect(found, JSON.stringify(directory)).toBeTypeOf('string');
    else expect(found, JSON.stringify(directory)).toEqual({ named, read: fixture.results[result] });
  }
});

test('every class of Transformers that does not take the whole file is built the same, or refused by name', async () => {
  expect([...Object.keys(REBUILT), ...OTHER_CLASSES].sort()).toEqual([...fixture.classes].sort());
  const files = { 'tokenizer_config.json': { tokenizer_class: 'T5TokenizerFast' } };
  await expect(load('llama2', { files })).rejects.toThrow(/tokenizer_class T5Tokenizer .* PreTrainedTokenizerFast/);
  const ofMistral = { ...files, 'config.json': { model_type: 'mistral' } };
  await expect(load('llama2', { files: ofMistral })).resolves.toBeDefined();
});

test('split_special_tokens is refused: no template could write a special token', async () => {
  const files = { 'tokenizer_config.json': { split_special_tokens: true } };
  await expect(load('llama2', { files })).rejects.toThrow(/split_special_tokens.* Set it to false/);
});

test('a directory that was made from a GGUF file is taken whole, whatever its model type', async () => {
  const files = { 'tokenizer_config.json': {}, 'config.json': { model_type: 'qwen2' } };
  const ids = async (more: Readonly<Record<string, Json>>) =>
    (await load('digits and gpt2', { files: { ...files, ...more } })).tokenizer.encode('(a42');
  const whole = await ids({ 'config.json': { model_type: 'phi3' } });
  expect(await ids({ 'model.gguf.json': {} })).toEqual(whole);
  expect(await ids({})).not.toEqual(whole);
});
