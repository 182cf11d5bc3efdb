// Which weights answered: the step of every choice of a trainable model, and the model's name in a header of every answer.
import { expect, test } from 'vitest';
import { register } from './registered-model.ts';
import { BASE, chat, send, shareTestServer } from './test-server.ts';

const server = await shareTestServer();
await register(server, 'agent');

interface Choice {
  index: number;
  finish_reason: string | null;
  policy_step?: number;
}

const chunksOf = (body: string): { choices: Choice[] }[] =>
  [...body.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json!) as { choices: Choice[] });

const completion = (model: string, more: object) => ({ model, prompt: 'Go on', max_tokens: 3, n: 2, ...more });

test.each([
  ['chat', '/v1/chat/completions', (model: string, more: object) => chat({ model, max_tokens: 3, n: 2, ...more })],
  ['completions', '/v1/completions', completion],
] as const)('%s: every choice has its step, in streams with its last chunk', async (_, url, body) => {
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

test.each([
  ['/v1/messages', { max_tokens: 3, messages: [{ role: 'user', content: 'Hi' }] }],
  ['/v1/responses', { max_output_tokens: 3, input: 'Hi' }],
])('%s names the model in a header', async (url, fields) => {
  const response = await send(server, { url, body: { model: 'p/agent', ...fields } });
  expect([response.statusCode, response.headers['x-whetstone-model']]).toEqual([200, 'default/p/agent:step0']);
});
