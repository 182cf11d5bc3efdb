import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { endTinyChunks, hadTinyChunks } from './tiny-chunks.ts';

const HEAD = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
const chunksOf = (text: string, count: number) =>
  `${`${text.length.toString(16)};an-extension\r\n${text}\r\n`.repeat(count)}0\r\n\r\n`;

/** The first line of the answer, empty if the connection was ended before; and how many bytes of the body the server had. */
async function send(body: string) {
  let bytes = 0;
  let request: IncomingMessage | null = null;
  const server = createServer((received, answer) => {
    request = received;
    received.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => answer.end('read'));
  });
  endTinyChunks(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let answer = '';
  let isClosed = false;
  socket.on('data', (piece) => (answer += String(piece))).on('error', () => {});
  socket.once('close', () => (isClosed = true));
  socket.write(HEAD + body);
  await vi.waitUntil(() => isClosed || answer.includes('read'), 20_000);
  socket.destroy();
  return { line: answer.split('\r\n')[0], bytes, isEnded: hadTinyChunks(request!) };
}

test.each([
  ['a few thousand chunks of a byte', 'x', 8_000],
  ['many chunks as of an encoder that writes token by token', '"ab"', 200_000],
])('%s are read', async (_, text, count) => {
  expect(await send(chunksOf(text, count))).toEqual({
    line: 'HTTP/1.1 200 OK',
    bytes: text.length * count,
    isEnded: false,
  });
});

test('a connection that sends many more of them is ended before its next bytes are read', async () => {
  const { line, bytes, isEnded } = await send(chunksOf('x', 500_000));
  expect({ line, isEnded }).toEqual({ line: '', isEnded: true });
  expect(bytes).toBeLessThan(11_000);
});
