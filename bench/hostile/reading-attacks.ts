// Requests that are costly to read or to answer by their bytes: searches, ranges, followers that do not read, chunks of a byte, bombs.
import { setTimeout as delay } from 'node:timers/promises';
import { brotliCompressSync, deflateSync } from 'node:zlib';
import { WebSocket } from 'ws';
import { once, type Attack, type HostileClient } from './client.ts';
import { get, many } from './forms.ts';
import { duringJob, JOBS } from './training-attacks.ts';

const ANSWERS: readonly Attack[] = [
  get('search: models by a long text', `/v1/preview/model-summaries?search=${encodeURIComponent('ß%_İ'.repeat(500))}`),
  get('search: runs by a long text', `/v1/runs?search=${'%25'.repeat(3_000)}`),
  get('usage: sums since the beginning', '/v1/usage/sums?start_date=1970-01-01&by=model,api_key,project,day'),
  get(
    'rows of a data set, the last page',
    '/v1/preview/artifacts/default/hostile/rows:v0/rows?path=train.jsonl&after=49900&limit=100',
  ),
  get('an overview of everything', '/v1/overview', 16),
  get('the description of the API', '/openapi.json', 16),
  get('metrics', '/metrics', 16),
  { ...get('one parameter a thousand times', `/v1/models?${'limit=1&'.repeat(1_000)}`), expected: '422' },
  { ...get('assets that are not there', `/assets/${'%2e%2e%2f'.repeat(500)}x`, 8), expected: '400' },
  {
    name: 'many ranges of a file',
    clients: 8,
    expected: '200',
    attempt: (client) =>
      client.send('GET', '/v1/artifacts/default/hostile/rows:v0/train.jsonl', {
        headers: { range: `bytes=${many(1_000, (i) => `${i}-${i}`).join(',')}` },
      }),
  },
  {
    name: 'a file that is asked for and not read',
    clients: 64,
    attempt: (client) =>
      client.onSocket(async (socket) => {
        socket.write(client.head('GET', '/v1/artifacts/default/hostile/rows:v0/train.jsonl', 0));
        socket.pause();
        await client.hold(20_000);
      }),
  },
  {
    name: 'followers of events that do not read',
    expected: '200',
    attempt: (client) =>
      duringJob(client, async (id) => {
        const asked = client.head('GET', `${JOBS}/${id}/events`, 0, 'text/event-stream');
        const follow = () =>
          client.onSocket(async (socket) => {
            socket.write(asked.replace('content-type', 'accept'));
            socket.pause();
            await client.hold(20_000);
          });
        await Promise.all(many(64, follow));
      }),
  },
];

const chunked = (client: HostileClient, path: string) =>
  client.head('POST', path, 0).replace('content-length: 0', 'transfer-encoding: chunked');

const BYTES: readonly Attack[] = [
  {
    name: 'a body in chunks of one byte',
    attempt: (client) =>
      client.onSocket(async (socket) => {
        socket.resume();
        socket.write(chunked(client, '/v1/chat/completions'));
        for (let part = 0; part < 40 && client.goesOn(); part++) {
          socket.write('1;an-extension=of-a-chunk\r\n \r\n'.repeat(10_000));
          await delay(10);
        }
      }),
  },
  {
    name: 'two thousand headers',
    clients: 8,
    attempt: (client) =>
      client.onSocket(async (socket) => {
        socket.resume();
        socket.write(`GET /v1/models HTTP/1.1\r\nhost: x\r\n${'a:b\r\n'.repeat(2_500)}\r\n`);
        await delay(20);
      }),
  },
  ...(['br', 'deflate'] as const).map((encoding): Attack => ({
    name: `bombs of ${encoding}, eight at once`,
    clients: 8,
    attempt: (client) =>
      client.send('POST', '/v1/preview/training-jobs', {
        body: BOMBS()[encoding],
        headers: { 'content-encoding': encoding },
      }),
  })),
  {
    name: 'sockets of workers that say nothing',
    clients: 32,
    async attempt(client) {
      const url = `${client.url.replace('http', 'ws')}/v1/workers/connect`;
      const socket = new WebSocket(url, 'whetstone.worker.v1', {
        headers: { authorization: `Bearer ${client.adminKey}` },
      });
      socket.on('error', () => {});
      await new Promise<void>((resolve) => {
        socket.on('open', () => many(200, () => socket.ping(Buffer.alloc(100))));
        socket.on('close', () => resolve());
        void client.hold(20_000).then(resolve);
      });
      client.count('left');
      socket.terminate();
    },
  },
];

const BOMBS = once(() => {
  const spaces = Buffer.alloc(200_000_000, ' ');
  return { br: brotliCompressSync(spaces), deflate: deflateSync(spaces) };
});

export const readingAttacks = (): readonly Attack[] => [...ANSWERS, ...BYTES];
