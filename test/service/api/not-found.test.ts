// The answer to a path that does not exist.
import { expect, test } from 'vitest';
import { send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();

test.each([
  ['/chat/completions', 'Not Found: POST /chat/completions. The base URL of OpenAI clients ends in /v1.'],
  ['/v1/nope', 'Not Found: POST /v1/nope. GET /docs lists all endpoints.'],
  ['/v1/v1/messages', 'Not Found: POST /v1/v1/messages. The base URL of Anthropic clients ends before /v1.'],
  [
    '/e/run-1/v1/v1/messages?beta=true',
    'Not Found: POST /e/run-1/v1/v1/messages. The base URL of Anthropic clients ends before /v1: …/e/run-1.',
  ],
  [
    '/e/g/run-1/v1/v1/responses',
    'Not Found: POST /e/g/run-1/v1/v1/responses. The base URL of OpenAI clients ends in one /v1: …/e/g/run-1/v1.',
  ],
  [
    '/e/run-1/v1/inference/v1/generate',
    'Not Found: POST /e/run-1/v1/inference/v1/generate. This endpoint lies beside /v1: …/e/run-1/inference/v1/generate.',
  ],
  [
    '/e/run-1/chat/completions',
    'Not Found: POST /e/run-1/chat/completions. The base URL of OpenAI clients ends in /v1: …/e/run-1/v1.',
  ],
  [
    '/e/g/run-1/responses',
    'Not Found: POST /e/g/run-1/responses. The base URL of OpenAI clients ends in /v1: …/e/g/run-1/v1.',
  ],
  ...['/e//v1/chat/completions', '/e/v1/chat/completions'].map((path) => [
    path,
    `Not Found: POST ${path}. The name of the episode is missing: …/e/NAME/v1 or …/e/GROUP/NAME/v1 (without /v1 for Anthropic clients).`,
  ]),
  [
    '/e/run-1/nope',
    'Not Found: POST /e/run-1/nope. The address of an episode is …/e/NAME/v1 or …/e/GROUP/NAME/v1 (without /v1 for Anthropic clients).',
  ],
  [
    '/v1/preview/episodes/a/b/reward',
    'Not Found: POST /v1/preview/episodes/a/b/reward. Names and ids of episodes have no slash: /v1/preview/episodes/NAME, and /reward or /tokens after it.',
  ],
])('%s', async (url, message) => {
  const answer = await send(server, { url, body: {} });
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toMatchObject({ error: { message, code: 'not_found' } });
});

test.each([
  ['POST', '/v1/messages/nope?beta=true', 404, 'not_found_error'],
  ['POST', '/v1/v1/messages', 404, 'not_found_error'],
  ['GET', '/v1/messages', 405, 'invalid_request_error'],
] as const)('%s %s is answered in Anthropic’s format', async (method, url, status, type) => {
  const answer = await send(server, { method, url, ...(method === 'POST' ? { body: {} } : {}) });
  expect(answer.statusCode).toBe(status);
  const id = answer.headers['request-id'];
  expect(answer.json()).toMatchObject({ type: 'error', error: { type }, request_id: id });
});

test.each([
  ['/v1/batches', 'Batches are not supported.'],
  ['/v1/batches/batch_1/cancel', 'Batches are not supported.'],
  ['/v1/messages/batches', 'Batches are not supported.'],
  ['/v1/responses/compact', 'Conversations are not compacted.'],
  ['/v1/fine_tuning/jobs', 'POST /v1/preview/training-jobs'],
])('%s is refused in words', async (url, words) => {
  const answer = await send(server, { url, body: {} });
  expect(answer.statusCode).toBe(404);
  const { error, request_id: requestId } = answer.json<{
    error: { message: string; code: string };
    request_id?: string;
  }>();
  expect(error).toMatchObject({ code: 'not_found' });
  expect(error.message).toContain(words);
  expect(requestId !== undefined).toBe(url.startsWith('/v1/messages')); // Anthropic's format
});
