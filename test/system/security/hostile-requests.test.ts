// Requests that no client sends by accident, over real connections: each ends by its deadline with an answer that names the cause,
// and the server answers the next request normally.
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { sendEvents } from '#api/http/sse';
import { BASE, BOOTSTRAP_KEY, chat, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';

const STALL_MS = 400;
const HEADERS_MS = 400;
const LINGER_MS = 300;
const CONNECTIONS_MAX = 40;
/** The time by which every wait must have ended, on the slowest machine; no passing test waits that long. */
const CLOSE_DEADLINE_MS = 40_000;

let server: TestServer;
let port: number;

beforeAll(async () => {
  server = await openTestServer({
    acceptsTemplates: true,
    limits: {
      bodyPace: { stallMs: STALL_MS, bytesPerSecondMin: 1_000 },
      connections: {
        connectionsMax: CONNECTIONS_MAX,
        headersMs: HEADERS_MS,
        lingerMs: LINGER_MS,
        lingerMsMax: 60_000,
        lingerBytesMax: 100_000_000,
        writeStallMs: 1_000,
      },
    },
  });
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  port = (server.app.server.address() as AddressInfo).port;
});
afterAll(async () => {
  await server.close();
});
afterEach(async () => {
  const answer = await send(server, { url: '/v1/chat/completions', body: chat() });
  expect(answer.statusCode, 'the server answers').toBe(200);
  const health = await send(server, { method: 'GET', url: '/v1/health' });
  expect(health.statusCode, 'the server is healthy').toBe(200);
});

/** A connection, and everything received on it until it closes or `CLOSE_DEADLINE_MS` have passed. */
async function open(): Promise<{ socket: Socket; received: () => string; closed: Promise<'closed' | 'still open'> }> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString('latin1')));
  socket.on('error', () => {});
  const over = new Promise<'closed'>((resolve) => socket.once('close', () => resolve('closed')));
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), over]);
  return {
    socket,
    received: () => received,
    closed: Promise.race([over, sleep(CLOSE_DEADLINE_MS, 'still open' as const, { ref: false })]),
  };
}

const head = (headers: Record<string, string | number>, method = 'POST', path = '/v1/chat/completions') =>
  `${[`${method} ${path} HTTP/1.1`, ...Object.entries({ host: 'x', authorization: `Bearer ${BOOTSTRAP_KEY}`, ...headers }).map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`;

/** Writes, and waits for an answer or the end. */
async function exchange(...pieces: (string | Buffer)[]): Promise<string> {
  const { socket, received, closed } = await open();
  for (const piece of pieces) socket.write(piece);
  const answered = (async () => {
    while (!received().includes('\r\n\r\n')) await sleep(5);
  })();
  await Promise.race([answered, closed]);
  await sleep(20);
  socket.destroy();
  return received();
}

const DOUBLING = (times: number) =>
  `{% set ns = namespace(s='xx') %}{% for i in range(${times}) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}`;
const JSON_TYPE = { 'content-type': 'application/json' };
const encoded = (encoding: string, body: Buffer) =>
  exchange(head({ ...JSON_TYPE, 'content-encoding': encoding, 'content-length': body.length }), body);

describe('slow', () => {
  test('headers end in a 408', async () => {
    const { socket, received, closed } = await open();
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ');
    expect(await closed).toBe('closed');
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(received()).toMatch(/x-request-id: [0-9a-f]{32}/);
  });

  test('headers that never end lose their place, though the client never closes its side', async () => {
    const countConnections = () =>
      new Promise<number>((resolve) => server.app.server.getConnections((_, count) => resolve(count)));
    await expect.poll(countConnections, { timeout: CLOSE_DEADLINE_MS }).toBe(0);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ');
    const ended = new Promise((resolve) => socket.once('end', resolve));
    socket.resume();
    await ended;
    await expect.poll(countConnections, { timeout: CLOSE_DEADLINE_MS }).toBe(0);
    socket.destroy();
  });

  test('bodies that stop end in a 408 that says so, and the connection closes', async () => {
    const { socket, received, closed } = await open();
    socket.write(`${head({ ...JSON_TYPE, 'content-length': 1_000 })}{"model":`);
    expect(await closed).toBe('closed');
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(received()).toContain('too slowly');
  });

  test('bodies that drip end in a 408 too', async () => {
    const { socket, received, closed } = await open();
    socket.write(head({ ...JSON_TYPE, 'content-length': 1_000 }));
    const drip = setInterval(() => socket.write(' '), STALL_MS / 8);
    expect(await closed).toBe('closed');
    clearInterval(drip);
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('files and training data end in a 408 as well, and nothing is stored', async () => {
    for (const [method, path] of [
      ['PUT', '/v1/artifacts/default/p/slow/a.bin'],
      ['POST', '/v1/preview/training-jobs'],
    ]) {
      const { socket, received, closed } = await open();
      socket.write(`${head({ ...JSON_TYPE, 'transfer-encoding': 'chunked' }, method, path)}2\r\n{"\r\n`);
      expect(await closed).toBe('closed');
      expect(received()).toMatch(/^HTTP\/1\.1 408 /);
    }
    expect(await server.blobs.list('artifacts')).toEqual([]);
  });

  test('bodies that will not be read do not hold the connection', async () => {
    const { socket, received, closed } = await open();
    socket.write(`${head({ ...JSON_TYPE, authorization: 'Bearer wrong', 'content-length': 50_000 })}{`);
    expect(await closed).toBe('closed');
    expect(received()).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('clients that leave end their generation', async () => {
    const { socket, closed } = await open();
    const body = JSON.stringify(chat({ stream: true, max_tokens: 60, ignore_eos: true, n: 8 }));
    socket.write(head({ ...JSON_TYPE, 'content-length': Buffer.byteLength(body) }) + body);
    while (server.model.inference.status().running === 0) await sleep(1);
    socket.destroy();
    await closed;
    while (server.model.inference.status().running > 0) await sleep(1);
  });

  test('clients that stop reading a stream are disconnected after a while', async () => {
    const app = Fastify();
    async function* endless(): AsyncGenerator<string> {
      for (;;) yield `data: ${'x'.repeat(65_536)}\n\n`;
    }
    let left = false;
    app.get('/', async (_, reply) => {
      await sendEvents(reply, endless(), () => '', { pingMs: 60_000, stallMs: STALL_MS });
      left = true;
      return reply;
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    socket.pause();
    for (let waitedMs = 0; !left && waitedMs < CLOSE_DEADLINE_MS; waitedMs += 20) await sleep(20);
    expect(left).toBe(true);
    socket.destroy();
    await app.close();
  });

  test('clients that read again later get the reason why the stream ended', async () => {
    const app = Fastify();
    async function* endless(): AsyncGenerator<string> {
      for (;;) yield `data: ${'x'.repeat(65_536)}\n\n`;
    }
    const over = new Promise<void>((resolve) =>
      app.get('/', async (_, reply) => {
        const limits = { pingMs: 60_000, stallMs: 2_000 };
        await sendEvents(reply, endless(), (error) => `data: ${(error as Error).message}\n\n`, limits);
        resolve();
        return reply;
      }),
    );
    await app.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    await over;
    let received = '';
    for await (const bytes of socket) received = (received + String(bytes)).slice(-1_000);
    expect(received).toContain('data: The client did not read this stream for 2 s');
    await app.close();
  });
});

describe('malformed', () => {
  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    ['TLS to the plain port', Buffer.from('160301020001000001fc0303', 'hex'), 400],
    ['a method that nobody knows', 'FROBNICATE /v1/health HTTP/1.1\r\nhost: x\r\n\r\n', 405],
    [
      'two lengths',
      'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}',
      400,
    ],
    [
      'a length and chunks',
      'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}',
      400,
    ],
    ['a negative length', 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n', 400],
    ['a folded header', 'GET /v1/health HTTP/1.1\r\nhost: x\r\nx-a: b\r\n c: d\r\n\r\n', 400],
    ['a null byte in a header', 'GET /v1/health HTTP/1.1\r\nhost: x\r\nx-a: b\0c\r\n\r\n', 400],
    ['headers without end', `GET /v1/health HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  ])('requests are refused: %s', async (_, bytes, status) => {
    const answer = await exchange(bytes);
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({
      error: { code: 'malformed_request' },
    });
  });

  test('chunks end the connection without harm', async () => {
    const answer = await exchange(`${head({ ...JSON_TYPE, 'transfer-encoding': 'chunked' })}zz\r\n{}\r\n`);
    expect(answer === '' || /^HTTP\/1\.1 4\d\d /.test(answer)).toBe(true);
  });

  test('ids that would split headers are not sent back', async () => {
    for (const id of ['a\r\nset-cookie: x=1', 'a\nset-cookie: x=1', 'a\u2028b', 'x'.repeat(1_000)]) {
      const answer = await exchange(`${head({ 'x-request-id': id, connection: 'close' }, 'GET', '/v1/health')}`);
      expect(answer.split('\r\n').some((line) => /^set-cookie/i.test(line))).toBe(false);
      expect(answer).not.toContain('x'.repeat(200));
    }
  });
});

describe('compressed', () => {
  const good = Buffer.from(JSON.stringify(chat()));

  test.each([
    ['gzip', gzipSync(good)],
    ['br', brotliCompressSync(good)],
  ])('bodies are read: %s', async (encoding, body) => {
    expect(await encoded(encoding, body)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('bombs are a 413: the limit applies to the decompressed size', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    expect(bomb.length).toBeLessThan(60_000);
    expect(await encoded('gzip', bomb)).toMatch(/^HTTP\/1\.1 413 /);
    expect(await encoded('br', brotliCompressSync(Buffer.alloc(50_000_000, ' ')))).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('bodies that are not compressed, and unknown encodings, are refused', async () => {
    expect(await encoded('gzip', good)).toMatch(/^HTTP\/1\.1 400 [^]*Content-Encoding/);
    expect(await encoded('gzip', gzipSync(good).subarray(0, 40))).toMatch(/^HTTP\/1\.1 4(?:00|22) /);
    expect(await encoded('zip', good)).toMatch(/^HTTP\/1\.1 415 [^]*gzip, deflate, br/);
  });
});

describe('deep and large', () => {
  test.each(['[', '{"a":', '{"messages":[', '{"trajectory_groups":[{"trajectories":[{"a":['])(
    'nesting of %s ends in a 422',
    async (opening) => {
      for (const url of ['/v1/chat/completions', '/v1/preview/training-jobs', '/v1/preview/models', '/v1/keys']) {
        const answer = await send(server, { url, body: opening.repeat(Math.floor(60_000 / opening.length)) });
        expect(answer.statusCode, `${url}: ${answer.body.slice(0, 200)}`).toBe(422);
      }
    },
  );

  test.each([
    ['documents', (deep: string) => `[{"a":${deep}}]`],
    ['chat_template_kwargs', (deep: string) => `{"a":${deep}}`],
    ['tools', (deep: string) => `[{"type":"function","function":{"name":"f","parameters":{"default":${deep}}}}]`],
    ['metadata', (deep: string) => `{"a":${deep}}`],
  ])('%s nested 3,000 deep, and as deep as is read, are no fault of the server', async (field, around) => {
    for (const depth of [110, 3_000]) {
      const deep = '{"b":'.repeat(depth) + '1' + '}'.repeat(depth);
      const body = JSON.stringify(chat({ max_tokens: 1 })).replace(/\}$/, `,"${field}":${around(deep)}}`);
      const answer = await send(server, { url: '/v1/chat/completions', body });
      expect(answer.statusCode, `${depth}: ${answer.body.slice(0, 300)}`).toBeLessThan(500);
      if (depth === 3_000) expect(answer.statusCode).toBe(422);
    }
  });

  test('names that climb out of directories are refused', async () => {
    for (const name of ['..', '%2e%2e', '..%2f..%2fetc', '%2fetc%2fpasswd', 'a%00b', '.', '%5c..%5c']) {
      for (const url of [
        `/v1/artifacts/default/p/${name}/x`,
        `/v1/artifacts/default/p/a/${name}`,
        `/v1/artifacts/default/${name}/a/x`,
      ]) {
        const answer = await send(server, { method: 'PUT', url, body: 'x' });
        expect(answer.statusCode, `${url}: ${answer.body}`).toBeGreaterThanOrEqual(400);
        expect(answer.statusCode, `${url}: ${answer.body}`).toBeLessThan(500);
      }
      const register = { project: decodeURIComponent(name), name: 'm', base_model: BASE };
      const made = await send(server, { url: '/v1/preview/models', body: register });
      expect(made.statusCode, made.body).toBeLessThan(500);
    }
    expect(await server.blobs.list('artifacts')).toEqual([]);
  });
});

describe('bombs inside', () => {
  /** The error blames the request, not a lost or overloaded server, or a timeout. */
  const refused = async (fields: Record<string, unknown>) => {
    const answer = await send(server, { url: '/v1/chat/completions', body: chat({ max_tokens: 4, ...fields }) });
    expect([400, 422], answer.body).toContain(answer.statusCode);
    expect(answer.json(), answer.body).toMatchObject({ error: { type: 'invalid_request_error' } });
  };

  test.each([
    [
      'loops',
      '{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}',
    ],
    [
      'text without end',
      "{% set ns = namespace(x='aaaaaaaaaaaaaaaa') %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x }}",
    ],
    ['recursion', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}'],
    ['nesting', `${'{% if true %}'.repeat(2_000)}x${'{% endif %}'.repeat(2_000)}`],
    ['a string that doubles sixty times', `${DOUBLING(60)}{{ ns.s }}`],
    ['a split bomb', `${DOUBLING(24)}{{ ns.s.split('x') | length }}`],
    ['a long string turned round', `${DOUBLING(27)}{{ ns.s[::-1] }}`],
    ['loops in loops', '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}'],
    ['reaching out', "{{ ''.constructor.constructor('return process')().exit() }}"],
  ])('templates: %s', async (_, chat_template) => refused({ chat_template }));

  test.each([
    ['a pattern that counts too far', { structured_outputs: { regex: 'a{1,9999999999}' } }],
    ['a pattern that leaves nothing', { structured_outputs: { regex: 'a(?!b)b' } }],
    [
      'patterns that multiply',
      {
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'x',
            schema: {
              allOf: Array.from({ length: 12 }, (_, i) => ({
                type: 'string',
                pattern: `^.*a.{${i + 5}}b.*c.{${i + 3}}$`,
              })),
            },
          },
        },
      },
    ],
    ['a pattern that is broken', { structured_outputs: { regex: '((((' } }],
    [
      'a schema that refers to itself only',
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { $ref: '#' } } } },
    ],
    [
      'a schema that refers elsewhere',
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { $ref: 'http://127.0.0.1/x' } } } },
    ],
    ['a grammar without end', { structured_outputs: { grammar: 'root ::= root' } }],
    [
      'a grammar of many rules',
      {
        structured_outputs: {
          grammar: `root ::= r0\n${Array.from({ length: 2_000 }, (_, i) => `r${i} ::= r${i + 1} r${i + 1}`).join('\n')}`,
        },
      },
    ],
  ])('grammars: %s', async (_, fields) => refused(fields));
});

test('connections above the limit are closed at once, and the others continue', async () => {
  const first = await open();
  const crowd = await Promise.all(Array.from({ length: CONNECTIONS_MAX * 2 }, open));
  await sleep(100);
  first.socket.write(head({ connection: 'close' }, 'GET', '/v1/health'));
  expect(await first.closed).toBe('closed');
  expect(first.received()).toMatch(/^HTTP\/1\.1 200 /);
  for (const { socket } of crowd) socket.destroy();
  await sleep(100);
});
