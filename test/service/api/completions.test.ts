// POST /v1/completions against a real (tiny) model: all forms of prompts, echo, the older logprobs, best_of, streams, refusals.
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { textCompletionSchema } from '#api/chat/completion-response-schema';
import { BASE, containing, faults, runScenarios, send, shareTestServer } from '../../support/api/test-server.ts';
import { CONTEXT_LENGTH } from '../../support/api/tiny-chat-model.ts';

const server = await shareTestServer();
const url = '/v1/completions';
const PROMPT = 'Once upon a time';
const body = (fields: object = {}) => ({
  model: BASE,
  prompt: PROMPT,
  max_tokens: 8,
  temperature: 0,
  seed: 1,
  ...fields,
});

type Completion = z.output<typeof textCompletionSchema>;

async function complete(fields: object = {}): Promise<Completion> {
  const response = await send(server, { url, body: body(fields) });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}
const text = async (fields: object = {}) => (await complete(fields)).choices[0]!.text;

interface Chunk {
  choices: (Completion['choices'][number] & { index: number })[];
  usage?: Completion['usage'];
  warnings?: string[];
  error?: { message: string };
}

async function stream(fields: object): Promise<Chunk[]> {
  const response = await send(server, { url, body: body({ stream: true, ...fields }) });
  expect(response.statusCode, response.body).toBe(200);
  const frames = response.body
    .trim()
    .split('\n\n')
    .map((frame) => frame.replace(/^data: /, ''));
  expect(frames.pop()).toBe('[DONE]');
  return frames.map((frame) => JSON.parse(frame) as Chunk);
}

describe('an answer', () => {
  test('has all keys, also those without a value', async () => {
    const answer = await complete();
    expect(textCompletionSchema.strict().safeParse(answer).error).toBeUndefined();
    expect(answer).toMatchObject({
      object: 'text_completion',
      model: BASE,
      id: expect.stringMatching(/^cmpl-/) as string,
    });
    expect(answer.usage).toMatchObject({ completion_tokens: 8, total_tokens: answer.usage.prompt_tokens + 8 });
  });

  test('has sixteen tokens by default, also if max_tokens is null', async () => {
    for (const max_tokens of [undefined, null])
      expect((await complete({ max_tokens, ignore_eos: true })).usage.completion_tokens).toBe(16);
  });
});

describe('prompts', () => {
  const ids = () => server.model.text.tokenizer.encode(PROMPT);

  test('of text and of its token ids are continued alike', async () => {
    expect(await text({ prompt: ids() })).toBe(await text());
  });

  test.each([
    ['texts', () => [PROMPT, 'Another day']],
    ['token ids', () => [ids(), server.model.text.tokenizer.encode('Another day')]],
  ])('in a list, as %s, are each answered as if alone, with n choices each', async (_, prompts) => {
    const { choices, usage } = await complete({ prompt: prompts(), n: 2, return_token_ids: true });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    const alone = await complete({ prompt: 'Another day', n: 2 });
    expect(choices.slice(2).map((choice) => choice.text)).toEqual(alone.choices.map((choice) => choice.text));
    const prompt = choices[0]!.prompt_token_ids!.length + choices[2]!.prompt_token_ids!.length;
    expect(usage).toMatchObject({ prompt_tokens: prompt, completion_tokens: 32 });
  });

  test('are truncated by truncate_prompt_tokens, on the requested side', async () => {
    const kept = async (fields: object) =>
      (await complete({ return_token_ids: true, ...fields })).choices[0]!.prompt_token_ids;
    expect(await kept({ truncate_prompt_tokens: 2 })).toEqual(ids().slice(-2));
    expect(await kept({ truncate_prompt_tokens: 2, truncation_side: 'right' })).toEqual(ids().slice(0, 2));
    const long = { prompt: 'word '.repeat(700), truncate_prompt_tokens: -1 };
    expect(await kept(long)).toHaveLength(CONTEXT_LENGTH - 8);
  });

  test.each(['9223372036854775807', '9223372036854776000', '9007199254740993', '1000000'])(
    'cannot be cut to %s tokens; the message has the number as it was sent',
    async (count) => {
      const response = await send(server, { url, body: `{"prompt": "One", "truncate_prompt_tokens": ${count}}` });
      expect(response.statusCode).toBe(400);
      expect(response.body).toContain(`got ${count}.`);
    },
  );
});

describe('echo', () => {
  test('begins with the prompt as it was sent', async () => {
    expect(await text({ echo: true })).toBe(PROMPT + (await text()));
  });

  test('with max_tokens 0 is the prompt alone, and costs no completion tokens', async () => {
    const { choices, usage } = await complete({ echo: true, max_tokens: 0, logprobs: 1 });
    expect(choices[0]).toMatchObject({ text: PROMPT, finish_reason: 'length' });
    expect(usage.completion_tokens).toBe(0);
    expect(choices[0]!.logprobs!.tokens.join('')).toBe(PROMPT);
  });
});

describe('logprobs', () => {
  test('are four lists by token, including the prompt if it is echoed', async () => {
    const plain = (await complete({ logprobs: 2 })).choices[0]!.logprobs!;
    const echoed = (await complete({ logprobs: 2, echo: true })).choices[0]!;
    const { tokens, token_logprobs: logprobs, top_logprobs: tops, text_offset: offsets } = echoed.logprobs!;
    const promptTokens = tokens.length - plain.tokens.length;
    expect(tokens.slice(promptTokens)).toEqual(plain.tokens);
    expect(logprobs[0]).toBeNull();
    expect(tops[0]).toBeNull();
    expect(logprobs.slice(1).every((logprob) => logprob !== null && logprob <= 0)).toBe(true);
    for (const [i, token] of tokens.entries())
      if (!token.includes('\uFFFD'))
        expect(echoed.text.slice(offsets[i])).toSatisfy((rest: string) => rest.startsWith(token) || rest === '');
    expect(Object.keys(tops.at(-1)!).length).toBeGreaterThanOrEqual(2);
    expect(plain.text_offset[0]).toBe(0);
  });

  test('with 0 list the token itself', async () => {
    const {
      tokens,
      top_logprobs: tops,
      token_logprobs: logprobs,
    } = (await complete({ logprobs: 0 })).choices[0]!.logprobs!;
    expect(tops).toEqual(tokens.map((token, i) => ({ [token]: logprobs[i] })));
  });

  test('name tokens by id on request', async () => {
    const { choices } = await complete({ logprobs: 0, return_tokens_as_token_ids: true, return_token_ids: true });
    expect(choices[0]!.logprobs!.tokens).toEqual(choices[0]!.token_ids!.map((id) => `token_id:${id}`));
  });

  test('of sampled tokens equal those of a prompt with the same tokens', async () => {
    const { logprobs, token_ids: sampled } = (await complete({ logprobs: 0, return_token_ids: true })).choices[0]!;
    const whole = [...server.model.text.tokenizer.encode(PROMPT), ...sampled!];
    const again = (await complete({ prompt: whole, echo: true, max_tokens: 0, logprobs: 0 })).choices[0]!.logprobs!;
    const read = again.token_logprobs.slice(-sampled!.length);
    logprobs!.token_logprobs.forEach((logprob, i) => expect(read[i]).toBeCloseTo(logprob!, 3));
  });
});

test('best_of returns the likeliest choices, and counts the tokens of all', async () => {
  const fields = { temperature: 1.5, logprobs: 0 };
  const score = ({ logprobs }: Completion['choices'][number]) =>
    logprobs!.token_logprobs.reduce<number>((sum, logprob) => sum + logprob!, 0) / logprobs!.tokens.length;
  const all = await complete({ ...fields, n: 4 });
  const best = await complete({ ...fields, n: 1, best_of: 4 });
  expect(best.choices).toHaveLength(1);
  expect(best.choices[0]!.text).toBe(all.choices.toSorted((a, b) => score(b) - score(a))[0]!.text);
  expect(best.usage.completion_tokens).toBe(all.usage.completion_tokens);
});

test('stop strings, constraints and beams work as in chat', async () => {
  const whole = await text({ max_tokens: 16 });
  const stop = whole.slice(3, 6);
  expect((await complete({ max_tokens: 16, stop })).choices[0]).toMatchObject({
    text: whole.slice(0, whole.indexOf(stop)),
    finish_reason: 'stop',
    stop_reason: stop,
  });
  expect(['red', 'green']).toContain(await text({ structured_outputs: { choice: ['red', 'green'] } }));
  const neutral = {
    stop: [],
    bad_words: [],
    logit_bias: {},
    min_tokens: 0,
    repetition_penalty: 1,
    frequency_penalty: 0,
  };
  expect((await complete({ use_beam_search: true, n: 2, ...neutral })).choices).toHaveLength(2);
});

test('a word of bad_words that has no token is refused', async () => {
  const blank = await send(server, { url, body: { model: BASE, prompt: PROMPT, bad_words: ['a', ' '] } });
  expect([blank.statusCode, blank.body]).toEqual([400, containing('bad_words.1')]);
});

test('the end-of-sequence token is named as a stop token if nothing else made it one', async () => {
  const eos = server.model.text.eosTokenIds[0]!;
  const ending = { logit_bias: { [eos]: 100 }, stop_token_ids: [eos] };
  expect((await complete(ending)).choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: null });
  const named = await complete({ ...ending, ignore_eos: true });
  expect(named.choices[0]).toMatchObject({ finish_reason: 'stop', stop_reason: eos });
});

test('a search for beams lists the log-probabilities of the prompt as sampling does', async () => {
  const fields = { prompt_logprobs: 1, echo: true, logprobs: 1, max_tokens: 2 };
  const listed = async (more: object) => {
    const { prompt_logprobs: all, logprobs } = (await complete({ ...fields, ...more })).choices[0]!;
    return [all, logprobs!.token_logprobs.slice(0, -2)];
  };
  expect(await listed({ use_beam_search: true })).toEqual(await listed({}));
});

describe('a stream', () => {
  test.each([
    ['a prompt', {}],
    ['prompts and choices', { prompt: [PROMPT, 'Another day'], n: 2, temperature: 1, logprobs: 1 }],
    ['an echo', { echo: true, logprobs: 1, return_token_ids: true }],
    ['a prompt alone', { echo: true, max_tokens: 0, logprobs: 0 }],
  ])('of %s equals the whole answer', async (_, fields) => {
    const whole = await complete(fields);
    const chunks = await stream({ ...fields, stream_options: { include_usage: true } });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
    for (const choice of whole.choices) {
      const own = chunks.flatMap(({ choices }) => choices.filter(({ index }) => index === choice.index));
      expect(own.map((chunk) => chunk.text).join('')).toBe(choice.text);
      expect(own.flatMap(({ logprobs }) => logprobs?.text_offset ?? [])).toEqual(choice.logprobs?.text_offset ?? []);
      expect(own.flatMap(({ logprobs }) => logprobs?.tokens ?? [])).toEqual(choice.logprobs?.tokens ?? []);
      expect(own.at(-1)!.finish_reason).toBe(choice.finish_reason);
      if (choice.prompt_token_ids) expect(own[0]!.prompt_token_ids).toEqual(choice.prompt_token_ids);
    }
  });

  test('says once what was not used', async () => {
    for (const fields of [{}, { echo: true }, { prompt: [PROMPT, 'Another day'], n: 2 }]) {
      const told = (await stream({ ...fields, paint: 'blue' })).flatMap(({ warnings }) => warnings ?? []);
      expect(told).toEqual([containing('paint')]);
    }
  });

  test('reports usage as it goes on request', async () => {
    const chunks = await stream({ stream_options: { continuous_usage_stats: true } });
    expect(chunks.slice(0, -1).map(({ usage }) => usage!.completion_tokens)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });
});

const refused = (name: string, fields: object, fault: string) =>
  test(`${name} is refused with its place in the body`, async () => {
    const response = await send(server, { url, body: body(fields) });
    expect(response.statusCode, response.body).toBe(422);
    expect(faults(response)).toContain(fault);
  });

refused('a suffix', { suffix: 'the end.' }, 'body.suffix value_error');
refused('a best_of below n', { n: 3, best_of: 2 }, 'body.best_of value_error');
refused('best_of in a stream', { best_of: 2, stream: true }, 'body.best_of value_error');
refused('no token at all', { max_tokens: 0 }, 'body.max_tokens value_error');
refused('no prompt at all', { prompt: [] }, 'body.prompt value_error');
refused('a crowd', { prompt: Array.from({ length: 65 }, () => 'a'), n: 2 }, 'body.prompt value_error');
refused('a stream’s option without a stream', { stream_options: { include_usage: true } }, 'body value_error');
refused('a prompt in vectors', { prompt_embeds: 'AAAA' }, 'body.prompt_embeds value_error');
refused(
  'what beams cannot follow',
  { use_beam_search: true, allowed_token_ids: [5] },
  'body.allowed_token_ids value_error',
);
refused('the parameter of another server', { guided_json: { type: 'object' } }, 'body.guided_json value_error');
refused('a negative id', { prompt: [1, -1] }, 'body.prompt.1 greater_than_equal');

runScenarios(
  () => server,
  [
    { name: 'an empty prompt', url, body: body({ prompt: '' }), status: 400, answer: { error: { param: 'prompt' } } },
    {
      name: 'an unknown token id',
      url,
      body: body({ prompt: [99_999] }),
      status: 400,
      answer: { error: { param: 'prompt' } },
    },
    {
      name: 'too long a prompt',
      url,
      body: body({ prompt: 'word '.repeat(700) }),
      status: 400,
      answer: { error: { code: 'context_length_exceeded', message: containing('maximum context length') } },
    },
    {
      name: 'too many tokens',
      url,
      body: body({ max_tokens: CONTEXT_LENGTH }),
      status: 400,
      answer: { error: { code: 'context_length_exceeded', param: 'max_tokens' } },
    },
    { name: 'an unknown model', url, body: body({ model: 'nope' }), status: 404 },
    {
      name: 'too many alternatives, by the field’s name',
      url,
      body: body({ logprobs: 21 }),
      status: 400,
      answer: { error: { param: 'logprobs' } },
    },
    {
      name: 'an unused field is named',
      url,
      body: body({ paint: 'blue' }),
      status: 200,
      answer: { warnings: [containing('paint')] },
    },
  ],
);

test('sampled tokens are charged to the account of the key', async () => {
  const used = async () =>
    (await send(server, { url: '/v1/usage' })).json<{ totals: { completion_tokens: number } }>().totals
      .completion_tokens;
  const before = await used();
  await complete({ prompt: [PROMPT, 'Another day'], n: 2 });
  expect((await used()) - before).toBe(32);
});
