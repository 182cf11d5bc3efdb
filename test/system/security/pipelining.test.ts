// Requests pipelined on one connection by a client that left before they were answered: they leave nothing behind,
// neither a slot of the key's request limit nor a generation that is not being read.
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chat, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

let server: TestServer;
let generating = 0;
let begun = 0;
beforeAll(async () => {
  server = await openTestServer({
    wrapEngine: (engine) => ({
      ...engine,
      /** Until the client leaves. */
      generate: (_request, signal) => {
        generating++;
        begun++;
        const ended = new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => {
            generating--;
            reject(new Error('left'));
          }),
        );
        return { cancelChoice: () => {}, [Symbol.asyncIterator]: () => ({ next: () => ended }) };
      },
    }),
  });
  await server.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => server.close());

function pipelined(count: number, authorization: string): string {
  const body = JSON.stringify(chat({ max_tokens: 400 }));
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'host: localhost',
    `authorization: ${authorization}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ].join('\r\n');
  return `${head}\r\n\r\n${body}`.repeat(count);
}

test('a client that leaves ends all its requests, its key gets its slots back, and shutdown does not wait', async () => {
  const limits = { requestsInFlight: 5 };
  const { secret } = await server.apiKeys.create({ entity: 'team', name: 'leaver', limits });
  const headers = { authorization: `Bearer ${secret}` };
  const models = () => send(server, { url: '/v1/models', headers });
  const socket = connect((server.app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(pipelined(5, headers.authorization));
  await expect.poll(() => begun, { timeout: 20_000 }).toBe(5);
  expect((await models()).statusCode).toBe(429);
  socket.destroy();
  await expect.poll(() => generating, { timeout: 20_000 }).toBe(0);
  await expect.poll(async () => (await models()).statusCode, { timeout: 20_000 }).toBe(200);
  expect(await server.app.drain(10_000)).toBe(0);
});
