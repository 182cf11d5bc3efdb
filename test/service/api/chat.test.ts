// POST /v1/chat/completions against a real (tiny) model: shapes, sampling, stopping, logprobs, validation.
import { describe, expect, test } from 'vitest';
import { completionSchema } from '#api/chat/chat-response-schema';
import {
  BASE,
  chat,
  containing,
  faults,
  matching,
  shareTestServer,
  runScenarios,
  send,
  type ApiScenario,
} from '../../support/api/test-server.ts';
import { CONTEXT_LENGTH } from '../../support/api/tiny-chat-model.ts';

const server = await shareTestServer();

const url = '/v1/chat/completions';

interface Completion {
  id: string;
  model: string;
  choices: {
    index: number;
    message: { role: string; content: string };
    finish_reason: string;
    stop_reason: string | number | null;
    logprobs: {
      content: {
        token: string;
        logprob: number;
        bytes: number[];
        top_logprobs: { token: string; logprob: number }[];
      }[];
    } | null;
    token_ids: number[] | null;
  }[];
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  prompt_token_ids: number[] | null;
}

async function complete(fields: Readonly<Record<string, unknown>> = {}): Promise<Completion> {
  const response = await send(server, { url, body: chat(fields) });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

describe('an answer', () => {
  test('has all keys, also those without a value', async () => {
    const answer = await complete();
    expect(completionSchema.strict().safeParse(answer).error).toBeUndefined();
    expect(answer.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
    expect(answer).toMatchObject({
      model: BASE,
      object: 'chat.completion',
      service_tier: null,
      prompt_logprobs: null,
      kv_transfer_params: null,
    });
    expect(answer.choices[0]).toMatchObject({
      index: 0,
      message: { role: 'assistant', refusal: null },
      logprobs: null,
      token_ids: null,
    });
    expect(answer.usage.total_tokens).toBe(answer.usage.prompt_tokens + answer.usage.completion_tokens);
  });

  test('names the unused fields, in the whole answer and in the first chunk', async () => {
    const fields = { paint: 'blue', silence: null };
    const warnings = [containing('paint')];
    expect(await complete(fields)).toMatchObject({ warnings });
    const { body } = await send(server, { url, body: chat({ ...fields, stream: true }) });
    expect(JSON.parse(body.slice('data: '.length, body.indexOf('\n\n')))).toMatchObject({ warnings });
  });

  test('comes from the model that is named with -- for the slash', async () => {
    expect((await complete({ model: BASE.replace('/', '--') })).model).toBe(BASE);
    const read = await send(server, { url: `/v1/models/${BASE.replace('/', '--')}` });
    expect(read.json()).toMatchObject({ id: BASE });
  });

  test('takes its id from the x-request-id header, else from request_id', async () => {
    const withHeader = await send(server, {
      url,
      headers: { 'x-request-id': 'head' },
      body: chat({ request_id: 'body' }),
    });
    expect(withHeader.json<Completion>().id).toBe('chatcmpl-head');
    expect((await complete({ request_id: 'body' })).id).toBe('chatcmpl-body');
  });

  test('ends with length when max_tokens is reached', async () => {
    const { choices, usage } = await complete({ max_tokens: 5, temperature: 0 });
    expect(choices[0]).toMatchObject({ finish_reason: 'length', stop_reason: null });
    expect(usage.completion_tokens).toBe(5);
  });

  test('max_completion_tokens wins over max_tokens, and 0 counts as unset', async () => {
    expect((await complete({ max_tokens: 5, max_completion_tokens: 3, temperature: 0 })).usage.completion_tokens).toBe(
      3,
    );
    expect((await complete({ max_tokens: 5, max_completion_tokens: 0, temperature: 0 })).usage.completion_tokens).toBe(
      5,
    );
  });

  test('is the same for the same seed and different for a different one', async () => {
    const text = async (seed: number) => (await complete({ seed, temperature: 1 })).choices[0]!.message.content;
    expect(await text(5)).toBe(await text(5));
    expect(await text(5)).not.toBe(await text(6));
  });

  test('has n choices in order, and the prompt is counted once', async () => {
    const one = await complete({ n: 1 });
    const three = await complete({ n: 3 });
    expect(three.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(three.usage.prompt_tokens).toBe(one.usage.prompt_tokens);
    expect(three.choices[0]!.message.content).toBe(one.choices[0]!.message.content);
    expect(new Set(three.choices.map(({ message }) => message.content)).size).toBeGreaterThan(1);
  });

  test('may have several greedy choices, all alike', async () => {
    const { choices } = await complete({ n: 2, temperature: 0 });
    expect(choices[1]!.message.content).toBe(choices[0]!.message.content);
  });

  test('is cut before a stop string, and names it', async () => {
    const whole = (await complete({ temperature: 0, max_tokens: 12 })).choices[0]!.message.content;
    const stop = whole.slice(4, 7);
    const { choices, usage } = await complete({ temperature: 0, max_tokens: 12, stop: ['never said', stop] });
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      stop_reason: stop,
      message: { content: whole.slice(0, whole.indexOf(stop)) },
    });
    expect(usage.completion_tokens).toBeLessThan(12);
  });

  test('accepts content in parts', async () => {
    const parts = await complete({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Say something.' }] }],
      temperature: 0,
    });
    expect(parts.choices[0]!.message.content).toBe((await complete({ temperature: 0 })).choices[0]!.message.content);
  });

  test('uses the tools that were sent', async () => {
    const plain = await complete();
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
    expect((await complete({ tools })).usage.prompt_tokens).toBeGreaterThan(plain.usage.prompt_tokens);
  });
});

describe('logprobs', () => {
  test('of a base model come only on request', async () => {
    expect((await complete()).choices[0]!.logprobs).toBeNull();
    const { choices, usage } = await complete({ logprobs: true, top_logprobs: 3, temperature: 0 });
    const tokens = choices[0]!.logprobs!.content;
    expect(tokens).toHaveLength(usage.completion_tokens);
    expect(Buffer.concat(tokens.map(({ bytes }) => Buffer.from(bytes))).toString()).toBe(choices[0]!.message.content);
    for (const { token, logprob, top_logprobs: top } of tokens) {
      expect(top).toHaveLength(3);
      expect(top[0]).toMatchObject({ token, logprob }); // greedy: the best one was taken
      expect(top.map((each) => each.logprob)).toEqual([...top.map((each) => each.logprob)].sort((a, b) => b - a));
    }
  });

  test('with top_logprobs null are off', async () => {
    expect((await complete({ logprobs: true, top_logprobs: null })).choices[0]!.logprobs).toBeNull();
  });

  test('can name tokens by id', async () => {
    const { choices, prompt_token_ids: prompt } = await complete({
      logprobs: true,
      return_tokens_as_token_ids: true,
      return_token_ids: true,
    });
    const { logprobs, token_ids: ids, message } = choices[0]!;
    expect(logprobs!.content.map(({ token }) => token)).toEqual(ids!.map((id) => `token_id:${id}`));
    expect(server.model.text.tokenizer.decode(ids!)).toBe(message.content);
    expect(server.model.text.tokenizer.decode(prompt!, { skipSpecialTokens: false })).toContain('Say something.');
  });

  test('of a trainable model come without a request and by id, so that rollouts can be trained on', async () => {
    await send(server, { url: '/v1/preview/models', body: { project: 'p', name: 'rollouts', base_model: BASE } });
    const model = 'wandb-artifact:///default/p/rollouts';
    const { choices, model: served } = await complete({ model });
    expect(served).toBe(`${model}:step0`);
    expect(choices[0]!.logprobs!.content[0]!.token).toMatch(/^token_id:\d+$/);
    expect((await complete({ model, logprobs: false })).choices[0]!.logprobs).toBeNull();
    expect(
      (await complete({ model, logprobs: true, return_tokens_as_token_ids: false })).choices[0]!.logprobs!.content[0]!
        .token,
    ).not.toContain('token_id');
  });
});

describe('a request', () => {
  const accepted = (name: string, fields: Readonly<Record<string, unknown>>): ApiScenario => ({
    name,
    url,
    body: chat(fields),
    status: 200,
  });
  runScenarios(
    () => server,
    [
      accepted('may have keys that nobody knows', {
        frobnicate: { deep: true },
        messages: [{ role: 'user', content: 'Hi', mood: 'good' }],
      }),
      accepted('may have null wherever null means default', {
        n: null,
        temperature: null,
        top_p: null,
        top_k: null,
        seed: null,
        stop: null,
        logprobs: null,
        tools: null,
        stream: null,
        stream_options: null,
        user: null,
        frequency_penalty: null,
        response_format: null,
        logit_bias: null,
        tool_choice: null,
        return_token_ids: null,
        max_completion_tokens: null,
      }),
      accepted('may send every field with a value that changes nothing', {
        frequency_penalty: 0,
        presence_penalty: 0,
        repetition_penalty: 1,
        min_p: 0,
        logit_bias: {},
        response_format: { type: 'text' },
        include_reasoning: true,
        tool_choice: 'none',
        parallel_tool_calls: true,
        skip_special_tokens: true,
        echo: false,
        priority: 0,
      }),
      accepted('may write numbers and booleans as strings', {
        temperature: '0.5',
        n: '1',
        seed: ' 7 ',
        max_tokens: '4',
        logprobs: 'yes',
      }),
      accepted('may have no model: the first base model answers', { model: null }),
      accepted('may instruct as developer', {
        messages: [
          { role: 'developer', content: 'Be brief.' },
          { role: 'user', content: 'Go' },
        ],
      }),
      accepted('may hold custom tool calls, functions’ results and roles of one’s own', {
        messages: [
          { role: 'user', content: 'Shell?' },
          { role: 'assistant', tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'shell', input: 'ls' } }] },
          { role: 'function', name: 'shell', content: 'a.txt' },
        ],
      }),
      accepted('may hold tool calls and their results', {
        messages: [
          { role: 'user', content: 'Weather?' },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
          },
          { role: 'tool', tool_call_id: 'a', content: 'rain' },
        ],
      }),
    ],
  );

  const refused = (name: string, fields: Readonly<Record<string, unknown>>, ...expected: string[]): ApiScenario => ({
    name,
    url,
    body: chat(fields),
    status: 422,
    then: (response) => {
      expect(faults(response)).toEqual(expected);
      for (const fault of expected)
        expect(response.json<{ error: { message: string } }>().error.message).toContain(fault.split(' ')[1]);
    },
  });
  runScenarios(() => server, [
    refused('gets every fault at once', { temperature: -1, top_p: 2, n: 1.5 }, 'body.n int_from_float', 'body.temperature greater_than_equal', 'body.top_p less_than_equal'),
    refused('needs messages', { messages: undefined }, 'body.messages missing'),
    refused('needs at least one', { messages: [] }, 'body.messages too_short'),
    refused('needs a list of them', { messages: 'Hi' }, 'body.messages list_type'),
    refused('needs a role in each', { messages: [{ content: 'Hi' }] }, 'body.messages.0.role missing'),
    refused('needs content from a user', { messages: [{ role: 'user' }] }, 'body.messages.0.content missing'),
    refused('names both forms that content may have', { messages: [{ role: 'user', content: 5 }] }, 'body.messages.0.content.str string_type', 'body.messages.0.content.list[part] list_type'),
    refused('takes calls from the assistant only', { messages: [{ role: 'user', content: 'x', tool_calls: [{ function: { name: 'f' } }] }] }, 'body.messages.0.tool_calls value_error'),
    refused('needs tool_call_id in a tool message', { messages: [{ role: 'tool', content: 'x' }] }, 'body.messages.0.tool_call_id missing'),
    refused('names both forms of stop', { stop: 3 }, 'body.stop.str string_type', 'body.stop.list[str] list_type'),
    refused('cannot stop at nothing', { stop: '' }, 'body.stop string_too_short'),
    refused('cannot have 0 tokens', { max_tokens: 0 }, 'body.max_tokens greater_than_equal'),
    refused('must ask for logprobs to get the top ones', { top_logprobs: 2 }, 'body value_error'),
    refused('has stream_options only with stream', { stream_options: { include_usage: true } }, 'body value_error'),
    refused('hears about rules across fields first', { stream_options: { include_usage: true }, n: 'x' }, 'body value_error'),
    refused('cannot have a tool without a name', { tools: [{ type: 'function', function: {} }] }, 'body.tools.0.function.name missing'),
    refused('cannot have null where the field knows no null', { include_reasoning: null }, 'body.include_reasoning bool_type'),
    refused('cannot have true for a number', { n: true, temperature: false, seed: true, allowed_token_ids: [false] }, 'body.n int_type', 'body.temperature float_type', 'body.allowed_token_ids.0 int_type', 'body.seed int_type'),
    refused('cannot have a seed that is no number', { seed: 'abc' }, 'body.seed int_parsing'),
    { ...refused('cannot have a seed beyond 64 bits', {}), body: JSON.stringify(chat()).replace('"seed":1', '"seed":9223372036854775808'), then: (r) => expect(faults(r)).toEqual(['body.seed less_than_equal']) },
    { ...refused('nor below', {}), body: JSON.stringify(chat()).replace('"seed":1', '"seed":-9223372036854775809'), then: (r) => expect(faults(r)).toEqual(['body.seed greater_than_equal']) },
    { ...refused('cannot have NaN', {}), body: JSON.stringify(chat()).replace('"seed":1', '"temperature":NaN'), then: (r) => expect(faults(r)).toEqual(['body.temperature finite_number']) },
  ]); // prettier-ignore

  test('takes the largest 64-bit seed exactly', async () => {
    const body = (seed: string) => JSON.stringify(chat({ temperature: 1 })).replace('"seed":1', `"seed":${seed}`);
    const text = async (seed: string) =>
      (await send(server, { url, body: body(seed) })).json<Completion>().choices[0]!.message.content;
    expect(await text('9223372036854775807')).toBe(await text('9223372036854775807'));
    expect(await text('9223372036854775807')).not.toBe(await text('9223372036854775806'));
  });

  runScenarios(
    () => server,
    [
      {
        name: 'for an unknown model is a 404 that names it',
        url,
        body: chat({ model: 'nope' }),
        status: 404,
        answer: {
          error: { code: 'model_not_found', param: 'model', message: containing('`nope`') },
          detail: containing('`nope`'),
        },
      },
      {
        name: 'for an unknown step is a 404 that says which the latest is',
        ...{ url, body: chat({ model: 'default/p/rollouts@7' }), status: 404 },
        answer: { error: { message: containing('whose latest step is 0, has no checkpoint at step 7.') } },
      },
      {
        name: 'for a step of a base model is a 404 that says that it has none',
        url,
        body: chat({ model: `${BASE}:step3` }),
        status: 404,
        answer: { error: { code: 'model_not_found', message: containing('is a base model, which has no steps') } },
      },
      {
        name: 'for a path of Tinker’s clients is a 404 that says what those weights are called here',
        url,
        body: chat({ model: 'tinker://run:train:0/sampler_weights/1' }),
        status: 404,
        answer: { error: { code: 'model_not_found', message: containing('tinker/SESSION-NUMBER') } },
      },
      {
        name: 'too long for the model says “maximum context length”',
        url,
        body: chat({ messages: [{ role: 'user', content: 'word '.repeat(CONTEXT_LENGTH) }] }),
        status: 400,
        answer: {
          error: {
            code: 'context_length_exceeded',
            message: matching(/maximum context length.*\(context_length_exceeded\)$/),
            param: 'messages',
          },
        },
      },
      {
        name: 'for more tokens than fit is refused, not cut',
        url,
        body: chat({ max_tokens: CONTEXT_LENGTH }),
        status: 400,
        answer: { error: { code: 'context_length_exceeded', param: 'max_tokens' } },
      },
      {
        name: 'with a role that the chat template does not know is refused by the template',
        url,
        body: chat({ messages: [{ role: 'narrator', content: 'Once' }] }),
        status: 400,
        answer: { error: { param: 'messages' } },
      },
      {
        name: 'with an image is refused by a text model',
        url,
        body: chat({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:' } }] }] }),
        status: 400,
      },
      {
        name: 'that would stream is refused as plain JSON',
        url,
        body: chat({ stream: true, model: 'nope' }),
        status: 404,
        answerHeaders: { 'content-type': containing('application/json') },
      },
    ],
  );
});
