// A directory with a tokenizer.json of Llama 2's kind, as AutoTokenizer of Transformers 5 loads it for each class and model type
// (python/golden/make_llama_class.py).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readTokenizer } from '#text/tokenizer';
import { readFixture } from '../../../test/support/golden/fixture.ts';
import { corpus, fileOf } from '../../../test/support/golden/tokenizer-corpus.ts';

type Read = readonly [text: string, ids: readonly number[], whole: readonly number[], decoded: string];

const fixture = readFixture<{
  readonly named: Readonly<Record<string, string>>;
  readonly cases: readonly (readonly [
    files: Readonly<Record<string, unknown>>,
    loadedAs: string,
    read: readonly Read[],
  ])[];
}>('tokenizers/llama-class.json');

test.each(fixture.cases)('%j is loaded as %s', async ({ model_type, ...config }, _, expected) => {
  const directory = await mkdtemp(join(tmpdir(), 'llama-class-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const files = {
    'tokenizer.json': fileOf(corpus.configurations['llama2']!),
    'tokenizer_config.json': { ...fixture.named, ...config },
    'config.json': { model_type },
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), JSON.stringify(content));
  const tokenizer = await readTokenizer(directory);
  const found = expected.map(([text]) => {
    const ids = tokenizer.encode(text);
    const whole = tokenizer.encode(text, { addSpecialTokens: true });
    return [text, ids, whole, tokenizer.decode(ids, { skipSpecialTokens: false })];
  });
  expect(found).toEqual(expected);
});
