import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readTextModel } from './text-model.ts';

const llama3 = fileURLToPath(new URL('../../test/support/golden/fixtures/tokenizers/llama3', import.meta.url));

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

test.each([
  ['a config that is null', 'config.json', 'null', /config\.json is not a JSON object/],
  [
    'a negative end token',
    'generation_config.json',
    { eos_token_id: -5 },
    /generation_config\.json: eos_token_id must be a token id.*got -5/,
  ],
  [
    'an end token beyond any vocabulary',
    'config.json',
    { max_position_embeddings: 64, eos_token_id: 1e15 },
    /config\.json: eos_token_id/,
  ],
  [
    'a negative temperature',
    'generation_config.json',
    { temperature: -3 },
    /temperature must be a number from 0 to 100, got -3\. Correct it/,
  ],
  [
    'a penalty of nothing',
    'generation_config.json',
    { repetition_penalty: 0 },
    /repetition_penalty must be a number above 0, got 0/,
  ],
  [
    'text for a number',
    'generation_config.json',
    { top_k: 'many' },
    /top_k must be a whole number of at least -1, got "many"/,
  ],
  [
    'an added token with a negative id',
    'tokenizer_config.json',
    { added_tokens_decoder: { '-1': { content: 'x' } } },
    /tokenizer_config\.json: a key of added_tokens_decoder .* got -1/,
  ],
  [
    'an added token of a billion',
    'tokenizer_config.json',
    { added_tokens_decoder: { 1000000000: { content: 'x' } } },
    /got 1000000000/,
  ],
  [
    'a template that is a number',
    'tokenizer_config.json',
    { chat_template: 7 },
    /chat_template .* must be a text or a list of named ones, not a number/,
  ],
  ['a tokenizer of another kind', 'tokenizer.json', '{"model":5}', /tokenizer\.json: model must be an object, got 5/],
])('%s is refused in a sentence that names the file', async (_what, file, content, message) => {
  await write(file, content);
  await expect(readTextModel(directory)).rejects.toMatchObject({
    code: 'bad_model_files',
    message: expect.stringMatching(message) as string,
  });
});

const within = (depth: number, before: string, after: string) => before.repeat(depth) + after.repeat(depth);

test.each([
  ['negative ids', 'vocab', '{"a":-1}'],
  ['an id of a billion', 'vocab', '{"a":1000000000}'],
  ['a deeply nested pre-tokenizer', 'pre_tokenizer', within(50_000, '[', ']')],
  ['pre-tokenizers in each other', 'pre_tokenizer', within(50_000, '{"type":"Sequence","pretokenizers":[', ']}')],
])('a tokenizer with %s is refused at once', async (_what, field, value) => {
  const json = JSON.parse(await readFile(join(llama3, 'tokenizer.json'), 'utf8')) as { model: object };
  const changed = field === 'vocab' ? { ...json, model: { ...json.model, vocab: '@' } } : { ...json, [field]: '@' };
  await write('tokenizer.json', JSON.stringify(changed).replace('"@"', value)); // JSON.stringify would recurse
  const beganMs = performance.now();
  await expect(readTextModel(directory)).rejects.toMatchObject({ code: 'bad_model_files' });
  expect(performance.now() - beganMs).toBeLessThan(5_000);
});
