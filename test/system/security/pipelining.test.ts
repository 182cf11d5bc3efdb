// Requests pipelined on one connection. A few are worked on at once and some wait for their turn. Those of a client that leaves before they
// are answered leave nothing behind, neither a slot of the key's request limit nor a generation that is not being read.
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BOOTSTRAP_KEY, chat, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

let server: TestServer;
let generating = 0;
beforeAll(async () => {
  server = await openTestServer({
    wrapEngine: (engine) => ({
      ...engine,
      /** Until the client leaves. */
      generate: (_request, signal) => {
        signal.throwIfAborted();
        generating++;
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

const SERVER = 'GET /v1/server HTTP/1.1\r\nhost: localhost\r\n\r\n';

test('requests in one packet are answered in their order, a few at a time', async () => {
  const limits = { requestsInFlight: 8 };
  const { secret } = await server.apiKeys.create({ entity: 'team', name: 'pipeliner', limits });
  const ask = (i: number) =>
    `GET /v1/models HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secret}\r\nx-request-id: r${i}\r\n\r\n`;
  const socket = connect((server.app.server.address() as AddressInfo).port, '127.0.0.1');
  let received = '';
  socket.on('data', (bytes) => (received += String(bytes)));
  socket.write(Array.from({ length: 60 }, (_, i) => ask(i)).join(''));
  const ids = () => [...received.matchAll(/x-request-id: (\w+)/g)].map(([, id]) => id);
  await expect.poll(ids, { timeout: 20_000 }).toEqual(Array.from({ length: 60 }, (_, i) => `r${i}`));
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(Array.from({ length: 60 }, () => 'HTTP/1.1 200'));
  socket.destroy();
});

test('a connection with more requests than may wait is destroyed', async () => {
  const socket = connect((server.app.server.address() as AddressInfo).port, '127.0.0.1');
  const closed = once(socket, 'close');
  socket.on('error', () => {});
  socket.resume();
  socket.write(pipelined(8, `Bearer ${BOOTSTRAP_KEY}`) + SERVER.repeat(200)); // the first eight are never answered
  await closed;
  await expect.poll(() => generating, { timeout: 20_000 }).toBe(0);
});

/** Drains the server, so it comes last. */
test('a client that leaves ends all its requests, its key gets its slots back, and shutdown does not wait', async () => {
  const limits = { requestsInFlight: 5 };
  const { secret } = await server.apiKeys.create({ entity: 'team', name: 'leaver', limits });
  const headers = { authorization: `Bearer ${secret}` };
  const models = () => send(server, { url: '/v1/models', headers });
  const socket = connect((server.app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(pipelined(5, headers.authorization));
  await expect.poll(() => generating, { timeout: 20_000 }).toBe(5);
  expect((await models()).statusCode).toBe(429);
  socket.destroy();
  await expect.poll(() => generating, { timeout: 20_000 }).toBe(0);
  await expect.poll(async () => (await models()).statusCode, { timeout: 20_000 }).toBe(200);
  expect(await server.app.drain(10_000)).toBe(0);
});
