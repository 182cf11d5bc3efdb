// The answer to a path that does not exist.
import { expect, test } from 'vitest';
import { send, shareTestServer } from './test-server.ts';

const server = await shareTestServer();

test.each([
  ['/chat/completions', 'Not Found: POST /chat/completions. The base URL of OpenAI clients ends in /v1.'],
  ['/v1/nope', 'Not Found: POST /v1/nope. GET /docs lists all endpoints.'],
])('%s', async (url, message) => {
  const answer = await send(server, { url, body: {} });
  expect(answer.statusCode).toBe(404);
  expect(answer.json()).toMatchObject({ error: { message, code: 'not_found' } });
});
