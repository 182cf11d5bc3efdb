// Attacks on connections, most of them without a key: headers and bodies that do not end, paths that are not there, many at once.
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:net';
import type { Attack } from './client.ts';

/** More than the server accepts. */
const FLOOD = 4_200;

export const connectionAttacks = (): readonly Attack[] => [
  {
    name: 'headers that never end',
    clients: 8,
    attempt: (client) =>
      client.onSocket(async (socket) => {
        socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ');
        await client.hold(20_000);
      }),
  },
  {
    name: `${FLOOD} connections at once`,
    async attempt(client) {
      const { hostname, port } = new URL(client.url);
      const sockets = Array.from({ length: FLOOD / 2 }, () => {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => {});
        socket.write('GET / HTTP/1.1\r\nhost: x\r\nx-slow: ');
        return socket;
      });
      await client.hold(20_000);
      for (const socket of sockets) {
        client.count(socket.destroyed ? 'closed by the server' : 'gone');
        socket.destroy();
      }
    },
    clients: 2,
  },
  {
    name: 'writers that drip',
    clients: 8,
    attempt: (client) =>
      client.onSocket(async (socket) => {
        socket.write(client.head('POST', '/v1/preview/training-jobs', 100_000_000));
        socket.resume();
        for (let ms = 0; ms < 20_000 && client.goesOn() && !socket.destroyed; ms += 200) {
          socket.write(' ');
          await delay(200);
        }
      }),
  },
  {
    name: 'requests in one packet',
    attempt: (client) =>
      client.onSocket(async (socket) => {
        socket.resume();
        socket.write(client.head('GET', '/v1/models', 0).repeat(2_000));
        await delay(500);
      }),
  },
  {
    name: 'two Host headers',
    attempt: (client) =>
      client.onSocket(async (socket) => {
        socket.write('GET /v1/health HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n');
        await delay(20);
      }),
  },
  {
    name: 'paths that are not there',
    clients: 8,
    attempt: (client, random) => client.send('GET', `/${'a/'.repeat(1 + random.integer(1_000))}x`),
  },
  {
    name: 'keys that are wrong',
    clients: 8,
    attempt: (client, random) =>
      client.send('GET', '/v1/models', { headers: { authorization: `Bearer wk-${random.integer(2 ** 31)}` } }),
  },
];
