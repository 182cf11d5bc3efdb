// Refused uploads reach common clients as a status: clients that send everything before they read, that ask to close,
// and that wait for 100 Continue. Uploads that never end do not hold a connection.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConnectionLimits } from '#api/http/connections';
import { BOOTSTRAP_KEY, openTestServer, type TestServer } from '../../support/api/test-server.ts';

const UPLOAD_BYTES = 40_000_000;
/** Ends hanging tests; no passing test takes as long. */
const GUARD_MS = 30_000;
const LIMITS: ConnectionLimits = {
  connectionsMax: 100,
  headersMs: 20_000,
  lingerMs: 400,
  lingerMsMax: GUARD_MS,
  lingerBytesMax: 2 * UPLOAD_BYTES,
  writeStallMs: 60_000,
};

interface Listening {
  readonly server: TestServer;
  readonly port: number;
}

async function listen(limits: Partial<ConnectionLimits> = {}): Promise<Listening> {
  const server = await openTestServer({ limits: { connections: { ...LIMITS, ...limits } } });
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  return { server, port: (server.app.server.address() as AddressInfo).port };
}

let listening: Listening;
beforeAll(async () => void (listening = await listen()));
afterAll(() => listening.server.close());

interface Refusal {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly status: number;
}

const REFUSALS: readonly Refusal[] = [
  { name: 'a body over its limit', method: 'POST', path: '/v1/preview/training-jobs', key: BOOTSTRAP_KEY, status: 413 },
  {
    name: 'a file over its limit',
    method: 'PUT',
    path: '/v1/artifacts/default/p/big/a.bin',
    key: BOOTSTRAP_KEY,
    status: 413,
  },
  { name: 'a wrong key', method: 'POST', path: '/v1/preview/training-jobs', key: 'wk-wrong', status: 401 },
];

const url = ({ path }: Refusal) => `http://127.0.0.1:${listening.port}${path}`;
const headersOf = ({ key }: Refusal) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
const PYTHON = ['.venv-clients/bin/python', '/usr/bin/python3'].find((path) => existsSync(path)) ?? null;
const CURL = ['/usr/bin/curl', '/usr/local/bin/curl'].find((path) => existsSync(path)) ?? null;
const upload = Buffer.alloc(UPLOAD_BYTES, ' ');

/** The output of a program, given `input`. */
async function run(program: string, args: readonly string[], input: Buffer): Promise<string> {
  const child = spawn(program, args, { timeout: GUARD_MS });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)));
  child.stdin.on('error', () => {}); // it stopped reading
  child.stdin.end(input);
  await once(child, 'close');
  return printed;
}

function* pieces(): Generator<Uint8Array> {
  for (let at = 0; at < UPLOAD_BYTES; at += 100_000) yield upload.subarray(at, at + 100_000);
}

/** A connection, and everything received on it until it closed. */
async function open(port: number): Promise<{ socket: Socket; received: () => string; closed: Promise<unknown> }> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1')));
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  return { socket, received: () => received, closed };
}

const head = (refusal: Refusal, more: Readonly<Record<string, string | number>>) =>
  `${[`${refusal.method} ${refusal.path} HTTP/1.1`, ...Object.entries({ host: 'x', ...headersOf(refusal), ...more }).map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`;

const URLLIB = `
import sys, urllib.request, urllib.error
url, method, key = sys.argv[1:]
body = b' ' * ${UPLOAD_BYTES}
request = urllib.request.Request(url, body, {'Authorization': 'Bearer ' + key, 'Content-Type': 'application/json'}, method=method)
try:
    print(urllib.request.urlopen(request).status)
except urllib.error.HTTPError as error:
    print(error.status)
`;
import { skipWithout } from '../../support/skipping.ts';

describe.each(REFUSALS)('$name', (refusal) => {
  const { method, status, key } = refusal;

  test('reaches node:http, which asks to close', async () => {
    const request = httpRequest(url(refusal), {
      method,
      agent: false,
      headers: { ...headersOf(refusal), connection: 'close', 'content-length': UPLOAD_BYTES },
    });
    request.end(upload);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(status);
    answer.resume();
    await once(answer, 'end');
  });

  test('reaches fetch with a stream', async () => {
    const body = ReadableStream.from(pieces());
    const answer = await fetch(url(refusal), { method, headers: headersOf(refusal), body, duplex: 'half' });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toHaveProperty('error.message');
  });

  test(
    'reaches urllib, which asks to close and sends everything before it reads',
    skipWithout('URLLIB', PYTHON !== null),
    async () => {
      expect((await run(PYTHON!, ['-c', URLLIB, url(refusal), method, key], Buffer.alloc(0))).trim()).toBe(
        String(status),
      );
    },
  );

  for (const chunked of [false, true])
    test(`reaches a client that sends everything before it reads${chunked ? ', in chunks' : ''}`, async () => {
      const { socket, received, closed } = await open(listening.port);
      socket.pause();
      const [before, after] = chunked ? [`${UPLOAD_BYTES.toString(16)}\r\n`, '\r\n0\r\n\r\n'] : ['', ''];
      const length = chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': UPLOAD_BYTES };
      socket.write(head(refusal, { connection: 'close', ...length }) + before);
      socket.write(upload);
      await new Promise((resolve) => socket.write(after, resolve));
      socket.resume();
      await closed;
      expect(received()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    });

  const curl = (...more: string[]) =>
    run(
      CURL!,
      [
        '-sS',
        '-o',
        '/dev/null',
        '-w',
        '%{http_code} %{size_upload}',
        '-X',
        method,
        '-H',
        `Authorization: Bearer ${key}`,
        '-H',
        'Content-Type: application/json',
        ...more,
        '--data-binary',
        '@-',
        url(refusal),
      ],
      upload,
    );

  test('reaches curl before it sends a byte', skipWithout('CURL', CURL !== null), async () => {
    expect(await curl('-H', 'Expect: 100-continue', '--expect100-timeout', '20')).toBe(`${status} 0`);
  });

  test('reaches curl that does not ask', skipWithout('CURL', CURL !== null), async () => {
    expect(await curl('-H', 'Expect:')).toMatch(new RegExp(`^${status} `));
  });
});

const [TOO_LARGE, , WRONG_KEY] = REFUSALS as [Refusal, Refusal, Refusal];

/** As soon as there is an answer; then what it says. */
async function answered({ socket, received }: Awaited<ReturnType<typeof open>>): Promise<string> {
  while (!received().includes('\r\n\r\n')) await once(socket, 'data');
  return received();
}

test('the error for a compressed body over its limit reaches a client that sends everything before it reads', async () => {
  const member = gzipSync(upload.subarray(0, 10_000_000));
  const body = Buffer.alloc(UPLOAD_BYTES, member); // the rest waits while the decoder is full
  const { socket, received, closed } = await open(listening.port);
  socket.pause();
  socket.write(head(TOO_LARGE, { connection: 'close', 'content-encoding': 'gzip', 'transfer-encoding': 'chunked' }));
  for (let at = 0; at < body.length; at += 1_000_000) {
    const piece = body.subarray(at, at + 1_000_000);
    socket.write(`${piece.length.toString(16)}\r\n`);
    socket.write(piece);
    socket.write('\r\n');
  }
  await new Promise((resolve) => socket.write('0\r\n\r\n', resolve));
  socket.resume();
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 413 /);
});

test('a body that will be read gets a 100 Continue', async () => {
  const { socket, received } = await open(listening.port);
  const body = '{"name":"a"}';
  const about = { ...TOO_LARGE, path: '/v1/chat/completions' };
  socket.write(head(about, { expect: '100-continue', 'content-length': body.length }));
  while (!received().includes('\r\n\r\n')) await once(socket, 'data');
  expect(received()).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write(body);
  while (!received().includes('HTTP/1.1 422')) await once(socket, 'data');
  socket.destroy();
});

describe('the rest of a refused body', () => {
  test('may arrive slowly, and the connection stays open', async () => {
    const connection = await open(listening.port);
    const { socket, received } = connection;
    const steps = 20; // more than twice the permitted stall
    socket.write(head(WRONG_KEY, { 'content-length': steps }));
    await answered(connection);
    for (let step = 0; step < steps; step++) {
      await sleep(LIMITS.lingerMs / 8);
      socket.write(' ');
    }
    socket.write('GET /v1/nothing HTTP/1.1\r\nhost: x\r\n\r\n');
    while (!received().includes('HTTP/1.1 404')) await once(socket, 'data');
    socket.destroy();
  });

  test('ends the connection if it stalls', async () => {
    const { socket, received, closed } = await open(listening.port);
    socket.write(`${head(WRONG_KEY, { 'content-length': 1_000 })}{`);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 401 /);
  });

  test.each([
    { name: 'drips for ever', limits: { lingerMs: 2_000, lingerMsMax: 500 }, everyMs: 20, piece: ' ' },
    {
      name: 'is more than the bound',
      limits: { lingerMs: 1_000, lingerBytesMax: 5_000_000 },
      everyMs: 1,
      piece: upload.subarray(0, 1_000_000),
    },
  ])('ends the connection if it $name', async ({ limits, everyMs, piece }) => {
    const { server, port } = await listen(limits);
    const { socket, received, closed } = await open(port);
    socket.write(head(WRONG_KEY, { 'content-length': 100_000_000_000 }));
    const sending = setInterval(() => void (socket.writableNeedDrain || socket.write(piece)), everyMs);
    await closed;
    clearInterval(sending);
    expect(received()).toMatch(/^HTTP\/1\.1 401 /);
    await server.close();
  });
});
