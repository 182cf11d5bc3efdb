import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readTextModel } from './text-model.ts';

const llama3 = fileURLToPath(new URL('../../test/golden/fixtures/tokenizers/llama3', import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'text-model-'));
  await cp(llama3, directory, { recursive: true });
  await write('config.json', { max_position_embeddings: 2048, eos_token_id: [481, 484] });
});
afterEach(() => rm(directory, { recursive: true }));

const write = (name: string, content: object | string) =>
  writeFile(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));

test('sampling defaults and all end tokens come from generation_config.json, the tokenizer’s own end token first', async () => {
  await write('generation_config.json', {
    temperature: 0.6,
    top_p: 0.95,
    top_k: 20,
    eos_token_id: [481, 482, 484],
  });
  const model = await readTextModel(directory);
  expect(model.generationDefaults).toEqual({
    temperature: 0.6,
    topP: 0.95,
    topK: 20,
    minP: null,
    repetitionPenalty: null,
    maxNewTokens: null,
  });
  expect(model.eosTokenIds).toEqual([484, 481, 482]);
  expect(model.contextLength).toBe(2048);
});

test('without generation_config.json the end tokens of config.json count', async () => {
  const model = await readTextModel(directory);
  expect(model.eosTokenIds).toEqual([484, 481]);
  expect(model.generationDefaults.temperature).toBeNull();
});

test('the smaller of the model’s and the tokenizer’s limit is the context', async () => {
  await write('tokenizer_config.json', { model_max_length: 512 });
  expect((await readTextModel(directory)).contextLength).toBe(512);
});

test('chat_template.jinja wins over tokenizer_config.json; without either there is no template', async () => {
  await write('chat_template.jinja', 'from the file');
  const request = { messages: [{ role: 'user', content: 'x' }], addGenerationPrompt: true };
  expect((await readTextModel(directory)).chatTemplate!.render(request)).toBe('from the file');
  await rm(join(directory, 'chat_template.jinja'));
  expect((await readTextModel(directory)).chatTemplate!.render(request)).toContain('<|begin_of_text|>');
  await write('tokenizer_config.json', {});
  expect((await readTextModel(directory)).chatTemplate).toBeNull();
});

test('templates may be a list of named ones', async () => {
  const named = [
    { name: 'default', template: 'plain' },
    { name: 'tool_use', template: 'tools' },
  ];
  await write('tokenizer_config.json', { chat_template: named });
  const { chatTemplate } = await readTextModel(directory);
  const tools = [{ type: 'function', function: { name: 'f' } }];
  expect(chatTemplate!.render({ messages: [], tools, addGenerationPrompt: true })).toBe('tools');
});

test.each([
  ['no config.json', async () => rm(join(directory, 'config.json')), /has no config\.json/],
  ['a config that is not JSON', async () => write('config.json', '{'), /config\.json is not valid JSON/],
  [
    'no limit on the context',
    async () => write('config.json', {}),
    /Neither max_position_embeddings nor model_max_length/,
  ],
])('a directory with %s is refused', async (_, spoil, message) => {
  await spoil();
  await expect(readTextModel(directory)).rejects.toMatchObject({
    code: 'bad_model_files',
    message: expect.stringMatching(message) as string,
  });
});

test('a tokenizer with more tokens than the model has rows is refused with both numbers, but for special ones that nothing writes', async () => {
  await write('config.json', { max_position_embeddings: 2048, vocab_size: 470 });
  await expect(readTextModel(directory)).rejects.toThrow(
    /has tokens up to id 484, and config\.json says that the model has 470 \(vocab_size\): it could not read ".+", which has id 470\./,
  );
  await write('config.json', { max_position_embeddings: 2048, vocab_size: 484 }); // <|eot_id|> ends every turn
  await expect(readTextModel(directory)).rejects.toThrow(/could not read "<\|eot_id\|>", which has id 484/);

  const tokenizer = JSON.parse(await readFile(join(directory, 'tokenizer.json'), 'utf8')) as { added_tokens: object[] };
  const image = { id: 485, content: '<image_soft_token>', special: true, normalized: false };
  await write('tokenizer.json', { ...tokenizer, added_tokens: [...tokenizer.added_tokens, image] });
  await write('config.json', { max_position_embeddings: 2048, text_config: { vocab_size: 485 } });
  expect((await readTextModel(directory)).tokenizer.encode('<image_soft_token>')).toEqual([485]);
});
