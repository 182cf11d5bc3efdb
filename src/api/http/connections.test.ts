import { createServer } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { refuseMalformed } from './connections.ts';

async function withServer(use: (port: number) => Promise<void>): Promise<unknown[]> {
  const logged: unknown[] = [];
  const server = createServer();
  server.on(
    'clientError',
    refuseMalformed({ ...silentLog, info: (event, fields) => logged.push({ event, ...fields }) }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
  return logged;
}

test('a client that speaks TLS fails at once, and the log says that the server speaks HTTP', async () => {
  const logged = await withServer(async (port) => {
    const client = connectTls({ port, host: '127.0.0.1' });
    const error = await new Promise<Error>((resolve) => void client.once('error', resolve));
    expect(error.message).toMatch(/wrong version number/);
  });
  expect(logged).toMatchObject([
    { event: 'request.malformed', problem: expect.stringContaining('speaks HTTP, not TLS') as string },
  ]);
});

test('other bytes are told to be no request', async () => {
  const logged = await withServer(async (port) => {
    const client = connect(port, '127.0.0.1');
    client.end('hello\r\n\r\n');
    const [answer] = (await once(client, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*This is not an HTTP\/1\.1 request/);
  });
  expect(logged).toMatchObject([{ event: 'request.malformed', problem: 'This is not an HTTP/1.1 request.' }]);
});
