// A long prompt rendered on the thread equals the one rendered here.
import { fileURLToPath } from 'node:url';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#base/clock';
import { parseSentJson } from '#base/sent-json';
import { createChatTemplate } from '../chat-template.ts';
import { createTokenizer } from '../tokenizer.ts';
import { readTokenizerFiles } from '../tokenizer-files.ts';
import { readTextModel, type TextModel } from '../text-model.ts';
import { makePrompt, type PromptCall } from './make-prompt.ts';
import { createPrompts } from './prompts.ts';

const TOKENIZER = fileURLToPath(new URL('../../../test/support/golden/fixtures/tokenizers/qwen/', import.meta.url));

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
/** `{% for %}` over 10^10 values of two nested ranges. */
const ENDLESS = '{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}';
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

test('values that Python knows better are written as it writes them, in the thread too', async () => {
  const template = join(directory, 'values.jinja');
  await writeFile(template, '{{ messages[0].content }}{{ tools[0].function.parameters | tojson }}{{ value | tojson }}');
  const instead = await readTextModel(directory, undefined, undefined, template);
  const parameters = parseSentJson('{"minimum": 1.0, "2": [1e5], "1": 12345678901234567890}') as object;
  const variables = parseSentJson('{"value": -0.0}') as Record<string, unknown>;
  for (const content of ['Hi', LONG]) {
    const messages = [{ role: 'user', content }];
    const tools = [{ type: 'function', function: { name: 'f', parameters } }];
    const prompt = { messages, tools, variables, addGenerationPrompt: true };
    const { text } = await instead.prompts.make(call('', { prompt }), by('a'));
    expect(text).toBe(`${content}{"minimum": 1.0, "2": [100000.0], "1": 12345678901234567890}-0.0`);
  }
});

test('a batch of one key is made as a whole while the machine is too busy to make any prompt here', async () => {
  const chatTemplate = createChatTemplate({ default: ENDLESS }, new Map(), systemClock);
  const here = { tokenizer: model.tokenizer, chatTemplate };
  const busy = createPrompts({ directory, template: null }, here, { hereMs: 10, makeMs: 60_000 });
  const calls = Array.from({ length: 600 }, (_, i) => call(`Question ${i}`));
  const made = await Promise.all(calls.map((each) => busy.make(each, by('a'))));
  expect(made.map(({ text }) => text)).toEqual(calls.map((each) => makePrompt(model, each).text));
});

test('many short prompts of one request give the event loop back between them', async () => {
  let [isDone, turns] = [false, 0];
  const count = (): void => void (turns++, isDone || setImmediate(count));
  setImmediate(count);
  const beganMs = performance.now();
  const prompts = createPrompts({ directory, template: null }, model, { hereMs: 60_000, makeMs: 60_000 });
  for (let i = 0; i < 100; i++)
    await prompts.make({ prompt: `${i} `.repeat(600), addSpecialTokens: false, charactersMax: Infinity }, by('a'));
  isDone = true;
  expect(turns).toBeGreaterThan((performance.now() - beganMs) / 100);
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

test('a hundred agents of one key may wait at once', async () => {
  const made = await Promise.all(
    Array.from({ length: 100 }, () => model.prompts.make(call('x '.repeat(10_500)), by('a'))),
  );
  expect(made).toHaveLength(100);
});

test('a text beyond the limit is not encoded', async () => {
  expect(await model.prompts.make(call(LONG, { charactersMax: 1_000 }), by('a'))).toMatchObject({ tokens: null });
});

test('a text of more tokens than any context has is refused, and not returned', () => {
  const encode = (text: string) => new Array<number>(text.length).fill(1);
  const maker = { ...model, tokenizer: { ...model.tokenizer, encode } };
  const whole = { prompt: 'x'.repeat(2_000_000), addSpecialTokens: false, charactersMax: Infinity };
  expect(makePrompt(maker, whole).tokens).toHaveLength(2_000_000);
  const more = { ...whole, prompt: `${whole.prompt}x` };
  expect(() => makePrompt(maker, more)).toThrow('has 2000001 tokens, more than 2000000 at once. Send it in parts.');
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

describe('a prompt that never gets ready', () => {
  const slow = (given: { readonly hereMs: number; readonly makeMs: number }) => {
    const template = join(directory, 'endless.jinja');
    const here = {
      tokenizer: model.tokenizer,
      chatTemplate: createChatTemplate({ default: ENDLESS }, new Map(), systemClock),
    };
    return writeFile(template, ENDLESS).then(() => createPrompts({ directory, template }, here, given));
  };

  test('keeps the caller’s thread no longer than its share, and is refused in words that nobody repeats', async () => {
    const prompts = await slow({ hereMs: 100, makeMs: 1_000 });
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    const refusal = { code: 'invalid_request', param: 'messages', retryAfterSeconds: null };
    await expect(prompts.make(call('Hi'), by('a'))).rejects.toMatchObject(refusal);
    delay.disable();
    expect(delay.max / 1e6).toBeLessThan(1_000);
    const again = performance.now();
    await expect(prompts.make(call('Hi'), by('a'))).rejects.toMatchObject(refusal);
    expect(performance.now() - again).toBeLessThan(1_000);
    await expect(prompts.make(call('Ho'), by('a'))).rejects.toThrow(/took longer than 1 s/);
  });
});

test('a pattern of the model’s own tokenizer that backtracks without end is refused', async () => {
  const files = await readTokenizerFiles(directory);
  const split = { type: 'Split', pattern: { Regex: '(x+x+)+y|.' }, behavior: 'Isolated', invert: false };
  const hostile = await mkdtemp(join(tmpdir(), 'whetstone-prompts-'));
  await cp(directory, hostile, { recursive: true });
  const json = JSON.parse(await readFile(join(hostile, 'tokenizer.json'), 'utf8')) as Record<string, unknown>;
  await writeFile(join(hostile, 'tokenizer.json'), JSON.stringify({ ...json, pre_tokenizer: split }));
  const tokenizer = createTokenizer({ ...files, tokenizer: { ...files.tokenizer, pre_tokenizer: split } }, hostile);
  const prompts = createPrompts(
    { directory: hostile, template: null },
    { tokenizer, chatTemplate: null },
    { hereMs: 2_000, makeMs: 3_000 },
  );
  const bomb = { prompt: 'x'.repeat(60), addSpecialTokens: false, charactersMax: Infinity };
  await expect(prompts.make(bomb, by('a'))).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/takes too many steps for this text: \(x\+x\+\)\+y/) as string,
  });
  expect((await prompts.make({ ...bomb, prompt: 'Hi' }, by('a'))).tokens).not.toBeNull();
  await rm(hostile, { recursive: true });
});
