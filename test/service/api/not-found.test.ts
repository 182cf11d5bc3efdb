// The answer to a path that does not exist.
import { expect, test } from 'vitest';
import { send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();

test.each([
  ['/chat/completions', 'Not Found: POST /chat/completions. The base URL of OpenAI clients ends in /v1.'],
  ['/v1/nope', 'Not Found: POST /v1/nope. GET /docs lists all endpoints.'],
])('%s', async (url, message) => {
  const answer = await send(server, { url, body: {} });
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toMatchObject({ error: { message, code: 'not_found' } });
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
