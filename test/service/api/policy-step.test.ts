// Which weights answered: the step of every choice, message and response of a trainable model, and the model's name in a header of every answer.
import { expect, test } from 'vitest';
import { register } from '../../support/api/registered-model.ts';
import { BASE, chat, send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();
await register(server, 'agent');

interface Choice {
  index: number;
  finish_reason: string | null;
  policy_step?: number;
  weight_versions?: object[];
}

interface Event {
  type: string;
  response?: object;
}

const dataOf = <T>(body: string): T[] =>
  [...body.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json!) as T);
const chunksOf = (body: string) => dataOf<{ choices: Choice[] }>(body);
const eventsOf = (body: string) => dataOf<Event>(body);

const counts = { max_tokens: 3, min_tokens: 3, n: 2 };
const completion = (model: string, more: object) => ({ model, prompt: 'Go on', ...counts, ...more });

const generation = (model: string, more: object) => ({
  ...{ model, token_ids: [1, 2], sampling_params: counts },
  ...more,
});

const ENDPOINTS = [
  ['chat', '/v1/chat/completions', (model: string, more: object) => chat({ model, ...counts, ...more })],
  ['completions', '/v1/completions', completion],
  ['generate', '/inference/v1/generate', generation],
] as const;

test.each(ENDPOINTS)('%s: every choice has its step, in streams with its last chunk', async (_, url, body) => {
  const whole = await send(server, { url, body: body('p/agent', {}) });
  expect(whole.json<{ choices: Choice[] }>().choices.map(({ policy_step: step }) => step)).toEqual([0, 0]);
  expect(whole.headers['x-whetstone-model']).toBe('default/p/agent:step0');

  const stream = await send(server, { url, body: body('p/agent', { stream: true }) });
  const choices = chunksOf(stream.body).flatMap((chunk) => chunk.choices);
  const withStep = choices.filter(({ policy_step: step }) => step !== undefined);
  expect(withStep.every(({ finish_reason: reason, policy_step: step }) => reason !== null && step === 0)).toBe(true);
  expect(withStep.map(({ index }) => index).sort()).toEqual([0, 1]);
  expect(stream.headers['x-whetstone-model']).toBe('default/p/agent:step0');

  const base = await send(server, { url, body: body(BASE, {}) });
  expect(base.json<{ choices: Choice[] }>().choices.some((choice) => 'policy_step' in choice)).toBe(false);
  expect(base.headers['x-whetstone-model']).toBe(BASE);
});

await register(server, '模型é', 'проект');

test.each(ENDPOINTS)('%s: a model with a name of any script answers, whole and in a stream', async (_, url, body) => {
  for (const stream of [false, true]) {
    const answer = await send(server, { url, body: body('проект/模型é', { stream }) });
    expect(answer.statusCode, answer.body).toBe(200);
    const header = String(answer.headers['x-whetstone-model']);
    expect(header).toMatch(/^[\x21-\x7e]+$/);
    expect(decodeURIComponent(header)).toBe('default/проект/模型é:step0');
  }
});

test.each(ENDPOINTS)(
  '%s: every choice says which weights sampled which tokens, as in vLLM',
  async (name, url, body) => {
    const asked = { return_weight_versions: true };
    const versionsOf = async (model: string, more: object) => {
      const answer = await send(server, { url, body: body(model, more) });
      return answer.json<{ choices: Choice[] }>().choices.map(({ weight_versions: spans }) => spans);
    };
    const span = (version: string) => [{ version, start: 0, end: 3 }];
    expect(await versionsOf('p/agent', asked)).toEqual([span('0'), span('0')]);
    expect(await versionsOf(BASE, asked)).toEqual([span('default'), span('default')]);

    const stream = await send(server, { url, body: body('p/agent', { ...asked, stream: true }) });
    for (const choice of chunksOf(stream.body).flatMap(({ choices }) => choices))
      expect(choice.weight_versions).toEqual(choice.finish_reason === null ? undefined : span('0'));

    // vLLM's generate has no such field: it always says so.
    if (name !== 'generate') expect(await versionsOf('p/agent', {})).toEqual([undefined, undefined]);
  },
);

test('completions: a prompt that is only scored has no weights', async () => {
  const body = completion(BASE, { echo: true, max_tokens: 0, min_tokens: 0, return_weight_versions: true });
  for (const more of [{}, { stream: true }]) {
    const { body: text } = await send(server, { url: '/v1/completions', body: { ...body, ...more } });
    expect(text.match(/"weight_versions":\[\]/g)).toHaveLength(2);
  }
});

test('messages: the message has its step, in streams at its start and in its last delta', async () => {
  const body = (model: string, more = {}) => ({
    ...{ model, max_tokens: 3, messages: [{ role: 'user', content: 'Hi' }] },
    ...more,
  });
  const whole = await send(server, { url: '/v1/messages', body: body('p/agent') });
  expect(whole.json()).toMatchObject({ policy_step: 0 });
  expect(whole.headers['x-whetstone-model']).toBe('default/p/agent:step0');

  const stream = await send(server, { url: '/v1/messages', body: body('p/agent', { stream: true }) });
  const events = eventsOf(stream.body);
  expect(events.find(({ type }) => type === 'message_start')).toMatchObject({ message: { policy_step: 0 } });
  expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({ delta: { policy_step: 0 } });

  const base = await send(server, { url: '/v1/messages', body: body(BASE) });
  expect(base.json()).not.toHaveProperty('policy_step');
});

test('responses: the response has its step once it has ended, also when it is read again', async () => {
  const body = (model: string, more = {}) => ({ ...{ model, max_output_tokens: 3, input: 'Hi' }, ...more });
  const whole = await send(server, { url: '/v1/responses', body: body('p/agent') });
  expect(whole.json()).toMatchObject({ policy_step: 0 });
  expect(whole.headers['x-whetstone-model']).toBe('default/p/agent:step0');
  const again = await send(server, { url: `/v1/responses/${whole.json<{ id: string }>().id}`, method: 'GET' });
  expect(again.json()).toEqual(whole.json());

  const stream = await send(server, { url: '/v1/responses', body: body('p/agent', { stream: true }) });
  const events = eventsOf(stream.body);
  expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: { policy_step: 0 } });
  expect(events.filter(({ response }) => response !== undefined && 'policy_step' in response)).toHaveLength(1);

  const base = await send(server, { url: '/v1/responses', body: body(BASE) });
  expect(base.json()).not.toHaveProperty('policy_step');
});

test('embeddings name the model too, and so do refusals once the model is found', async () => {
  const vectors = await send(server, { url: '/v1/embeddings', body: { model: 'p/agent', input: 'Hi' } });
  expect(vectors.statusCode, vectors.body).toBe(200);
  expect(vectors.headers['x-whetstone-model']).toBe('default/p/agent:step0');
  const tooLong = await send(server, {
    url: '/v1/chat/completions',
    body: chat({ model: 'p/agent', max_tokens: 1e6 }),
  });
  expect(tooLong.statusCode).toBe(400);
  expect(tooLong.headers['x-whetstone-model']).toBe('default/p/agent:step0');
  await send(server, { url: '/e/over/v1/chat/completions', body: chat({ model: 'p/agent' }) });
  await send(server, { url: '/v1/preview/episodes/over/reward', body: { reward: 1 } });
  const ended = await send(server, { url: '/e/over/v1/chat/completions', body: chat({ model: 'p/agent' }) });
  expect([ended.statusCode, ended.headers['x-whetstone-model']]).toEqual([409, 'default/p/agent:step0']);
});
