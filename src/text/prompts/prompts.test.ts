// A long prompt rendered on the thread equals the one rendered here.
import { fileURLToPath } from 'node:url';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTextModel, type TextModel } from '../text-model.ts';
import { makePrompt, type PromptCall } from './make-prompt.ts';

const TOKENIZER = fileURLToPath(new URL('../../../test/golden/fixtures/tokenizers/qwen/', import.meta.url));

let directory: string;
let model: TextModel;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'whetstone-prompts-'));
  await cp(TOKENIZER, directory, { recursive: true });
  await writeFile(join(directory, 'config.json'), JSON.stringify({ max_position_embeddings: 512 }));
  model = await readTextModel(directory);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const call = (content: string, given: Partial<PromptCall> = {}): PromptCall => ({
  prompt: { messages: [{ role: 'user', content }], addGenerationPrompt: true },
  addSpecialTokens: false,
  charactersMax: Infinity,
  ...given,
});
const LONG = 'It was a dark and stormy night. '.repeat(2_000);
const by = (payer: string, signal = new AbortController().signal) => ({ payer, signal });

test.each(['Hi', LONG])('%.10s… is made as it would be here', async (content) => {
  expect(await model.prompts.make(call(content), by('a'))).toEqual(makePrompt(model, call(content)));
});

test('a template in place of the model’s own is that of long prompts too', async () => {
  const template = join(directory, 'instead.jinja');
  await writeFile(template, '{{ messages[0].content }}!');
  const instead = await readTextModel(directory, undefined, undefined, template);
  for (const content of ['Hi', LONG])
    expect((await instead.prompts.make(call(content), by('a'))).text).toBe(`${content}!`);
});

test('several prompts return to the requests that sent them', async () => {
  const calls = [1, 2, 3].map((n) => call(LONG + n, { addSpecialTokens: n === 2 }));
  const made = await Promise.all(calls.map((each) => model.prompts.make(each, by('a'))));
  expect(made).toEqual(calls.map((each) => makePrompt(model, each)));
});

test('the queue is fair to payers: a newcomer does not wait for everything another payer has sent', async () => {
  const ends: string[] = [];
  const make = async (payer: string) => {
    await model.prompts.make(call(LONG), by(payer));
    ends.push(payer);
  };
  await Promise.all([...Array.from({ length: 6 }, () => make('a')), make('b')]);
  expect(ends).toEqual(['a', 'b', 'a', 'a', 'a', 'a', 'a']);
});

test('a text beyond the limit is not encoded', async () => {
  expect(await model.prompts.make(call(LONG, { charactersMax: 1_000 }), by('a'))).toMatchObject({ tokens: null });
});

test('a conversation that the template refuses is refused as in the server process', async () => {
  const messages = [
    { role: 'user', content: LONG },
    { role: 'assistant', content: [{ type: 'image_url' }] },
  ];
  const refused = call('', { prompt: { messages, addGenerationPrompt: true } as PromptCall['prompt'] });
  const refusal = { code: 'invalid_request', param: 'messages' };
  expect(() => makePrompt(model, refused)).toThrow(/reads text parts only/);
  await expect(model.prompts.make(refused, by('a'))).rejects.toMatchObject(refusal);
});

test('a request that has left waits for nothing', async () => {
  await expect(model.prompts.make(call(LONG), by('a', AbortSignal.abort()))).rejects.toMatchObject({
    code: 'cancelled',
  });
});
