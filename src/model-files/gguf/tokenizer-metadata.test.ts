// A tokenizer goes into a GGUF file as the server loads it: read back, the file has the tokens of the directory, whatever the directory's
// files say about its class and its added tokens. What llama.cpp could not do alike is refused.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { readTokenizer, type Tokenizer } from '#text/tokenizer';
import { tokenizerOf } from './gguf-tokenizer.ts';
import { readMetadata } from './metadata.ts';
import { tokenizerMetadata } from './tokenizer-metadata.ts';

type Json = Readonly<Record<string, unknown>>;

const ROWS = 1_700;
const TEXT = "It's 1234 o'clock, they'll say <call> \u00e9 e\u0301\n\n  <|im_start|>user x=42<pad1><none>";

async function written(files: Readonly<Record<string, Json>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tokenizer-metadata-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const [name, json] of Object.entries(files)) await writeFile(join(directory, name), JSON.stringify(json));
  return directory;
}

/** The starter's, with other entries in its files. */
async function directoryOf(changes: Readonly<Record<string, Json>>): Promise<string> {
  const files: Record<string, Json> = { ...changes };
  for (const name of ['tokenizer.json', 'tokenizer_config.json', 'config.json']) {
    const file = JSON.parse(await readFile(join(STARTER_DIRECTORY, name), 'utf8')) as Json;
    files[name] = { ...file, ...changes[name] };
  }
  return written(files);
}

async function throughGguf(directory: string): Promise<Tokenizer> {
  const metadata = Object.entries(await tokenizerMetadata(directory, ROWS)).map(([key, { value }]) => [key, value]);
  const values = new Map([...metadata, ['general.architecture', 'qwen3']] as [string, never][]);
  const { tokenizer, tokenizerConfig } = tokenizerOf(readMetadata(values, 'model.gguf'));
  const files = { 'tokenizer.json': tokenizer, 'tokenizer_config.json': tokenizerConfig, 'model.gguf.json': {} };
  return readTokenizer(await written(files));
}

const token = (content: string, special: boolean): Json => ({ content, special, normalized: false });

test.each<[string, Readonly<Record<string, Json>>]>([
  ['as it is', {}],
  ['a class that builds the tokenizer anew', { 'tokenizer_config.json': { tokenizer_class: 'Qwen2Tokenizer' } }],
  ['another such class', { 'tokenizer_config.json': { tokenizer_class: 'GPT2Tokenizer' } }],
  [
    'tokens that only tokenizer_config.json adds',
    {
      'tokenizer_config.json': { added_tokens_decoder: { 1626: token('<call>', false), 1627: token('<pad1>', true) } },
    },
  ],
  ['tokens that only an older file adds', { 'added_tokens.json': { '<call>': 1626 } }],
])('%s', async (_, changes) => {
  const directory = await directoryOf(changes);
  const [own, there] = await Promise.all([readTokenizer(directory), throughGguf(directory)]);
  expect(there.encode(TEXT)).toEqual(own.encode(TEXT));
});

test.each<[string, Json, RegExp]>([
  ['lower case', { normalizer: { type: 'Lowercase' } }, /normalizer Lowercase/],
  ['no bytes', { decoder: { type: 'Metaspace' } }, /only byte-level BPE/],
  ['an unknown split', { pre_tokenizer: { type: 'Whitespace' } }, /no pre-tokenizer that splits text like/],
])('%s is refused', async (_, changes, message) => {
  const directory = await directoryOf({ 'tokenizer.json': changes });
  await expect(tokenizerMetadata(directory, ROWS)).rejects.toThrow(message);
});
