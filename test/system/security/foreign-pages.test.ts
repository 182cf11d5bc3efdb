// What a page of another site can make a user's browser do to a server on the same machine: call it under the page's own host name
// (DNS rebinding), read its answers, show its pages in a frame.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { containing, openTestServer, runScenarios, send, type TestServer } from '../../support/api/test-server.ts';
import { readServerConfig, type ServeFlags } from '../../../src/config/server-config.ts';

const KEYLESS = { authorization: '' };
const PREFLIGHT = {
  ...KEYLESS,
  'access-control-request-method': 'PUT',
  'access-control-request-headers': 'authorization',
};

const openAs = (flags: ServeFlags, given?: TestServer): Promise<TestServer> => {
  const { api } = readServerConfig(flags, {});
  const { hosts, origins, metricsAccess } = api;
  return openTestServer({ limits: { hosts, origins, metricsAccess }, ...(given && { given }) });
};

/** On loopback, as `serve` starts without flags. */
let server: TestServer;
beforeAll(async () => void (server = await openAs({})));
afterAll(() => server.close());

const statusFor = async (at: TestServer, host: string, url = '/v1/health') =>
  (await send(at, { url, headers: { ...KEYLESS, host } })).statusCode;

describe('a server on loopback', () => {
  test.each([
    'localhost',
    'localhost:8484',
    'LOCALHOST.',
    'ui.localhost:3000',
    '127.0.0.1',
    '127.9.9.9:1',
    '[::1]:8484',
    '[::ffff:127.0.0.1]:8484',
  ])('answers to %s', async (host) => expect(await statusFor(server, host)).toBe(200));

  test.each([
    'evil.example',
    'evil.example:8484',
    'localhost.evil.example',
    '10.0.0.7',
    '[fd00::1]',
    '127.0.0.1.evil.example',
    'a b',
    '@',
  ])('does not answer to %s on any path', async (host) => {
    for (const url of ['/v1/health', '/metrics', '/docs', '/v1/models', '/nowhere'])
      expect(await statusFor(server, host, url), url).toBe(421);
  });

  test('says what to do, and answers to configured names', async () => {
    const refused = await send(server, { url: '/v1/health', headers: { host: 'chat.internal:8484' } });
    expect(refused.json()).toMatchObject({
      detail: containing('--allowed-host chat.internal'),
      error: { code: 'host_not_allowed' },
    });
    const named = await openAs({ allowedHost: ['chat.internal', 'Other.internal'] }, server);
    for (const host of ['chat.internal:8484', 'other.internal', 'localhost'])
      expect(await statusFor(named, host)).toBe(200);
    expect(await statusFor(named, 'evil.example')).toBe(421);
  });
});

describe('a server that other machines can reach', () => {
  test('answers to the address it is bound to, and to configured names', async () => {
    const bound = await openAs({ host: '10.0.0.7', allowedHost: ['FD00::0:1'] }, server);
    for (const host of ['10.0.0.7:8484', '[fd00::1]', 'localhost']) expect(await statusFor(bound, host)).toBe(200);
    for (const host of ['evil.example', '10.0.0.8']) expect(await statusFor(bound, host)).toBe(421);
  });

  test('on all addresses answers to any name, because nothing is open without a key', async () => {
    const open = await openAs({ host: '0.0.0.0' }, server);
    for (const host of ['chat.example.com', '10.0.0.7:8484']) expect(await statusFor(open, host)).toBe(200);
  });

  test('answers only to configured names, if there are any, and to any address, because its machine has many', async () => {
    const named = await openAs({ host: '0.0.0.0', allowedHost: ['chat.example.com'] }, server);
    for (const host of ['chat.example.com', '10.0.0.7:8484', '[fd00::1]', 'localhost'])
      expect(await statusFor(named, host)).toBe(200);
    expect(await statusFor(named, 'evil.example')).toBe(421);
    const one = await openAs({ host: '10.0.0.7', allowedHost: ['chat.example.com'] }, server);
    expect(await statusFor(one, '10.0.0.7:8484')).toBe(200);
    expect(await statusFor(one, '10.0.0.8:8484')).toBe(421);
  });
});

describe('pages of other origins', () => {
  test('cannot read anything unless their origin is configured', async () => {
    for (const url of ['/metrics', '/v1/health', '/openapi.json', '/v1/models', '/nowhere']) {
      const { headers } = await send(server, { url, headers: { origin: 'http://evil.example' } });
      expect(headers['access-control-allow-origin'], url).toBeUndefined();
    }
    const asked = await send(server, {
      method: 'OPTIONS',
      url: '/v1/models',
      headers: { ...PREFLIGHT, origin: 'null' },
    });
    expect(asked.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('of a configured origin can read answers and errors, and use every method', async () => {
    const at = await openAs({ allowedOrigin: ['http://localhost:3000', 'https://ui.example.com'] }, server);
    for (const origin of ['http://localhost:3000', 'https://ui.example.com']) {
      for (const url of ['/v1/models', '/v1/preview/models/unknown']) {
        const { headers } = await send(at, { url, headers: { origin } });
        expect(headers['access-control-allow-origin']).toBe(origin);
        expect(headers['access-control-expose-headers']).toContain('x-request-id');
        expect(headers.vary).toContain('Origin');
      }
      const asked = await send(at, {
        method: 'OPTIONS',
        url: '/v1/artifacts/a/b/c/d',
        headers: { ...PREFLIGHT, origin },
      });
      expect(asked.statusCode).toBe(204);
      expect(asked.headers['access-control-allow-methods']).toBe('GET, HEAD, POST, PUT, DELETE');
      expect(asked.headers['access-control-allow-headers']).toBe('authorization');
    }
    const other = await send(at, { url: '/v1/models', headers: { origin: 'http://localhost:3001' } });
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
  });

  test('of all origins can read, if * is configured', async () => {
    const at = await openAs({ allowedOrigin: ['*'] }, server);
    const { headers } = await send(at, { url: '/v1/models', headers: { origin: 'http://anywhere.example' } });
    expect(headers['access-control-allow-origin']).toBe('*');
  });

  test.each(['localhost:3000', 'http://localhost:3000/ui', 'chat.example.com', ''])(
    '"%s" is not an origin',
    (origin) => {
      expect(() => readServerConfig({ allowedOrigin: [origin] }, {})).toThrow(/--allowed-origin must be/);
    },
  );

  test.each(['http://localhost', 'a/b', 'chat.example.com:8484', '*', ''])('"%s" is not a host name', (host) => {
    expect(() => readServerConfig({ allowedHost: [host] }, {})).toThrow(/--allowed-host must be/);
  });
});

describe('HTML', () => {
  runScenarios(
    () => server,
    ['/', '/docs'].map((url) => ({
      name: `of ${url} runs no script, cannot be framed, and sends no referrer`,
      url,
      headers: KEYLESS,
      status: 200,
      answerHeaders: {
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
        ) as unknown,
      },
    })),
  );

  test('no other answer is interpreted as HTML', async () => {
    for (const url of ['/v1/health', '/nowhere', '/metrics'])
      expect((await send(server, { url })).headers['x-content-type-options']).toBe('nosniff');
  });
});

describe('/metrics', () => {
  const status = async (at: TestServer, headers: Record<string, string>, remoteAddress = '127.0.0.1') =>
    (await at.app.inject({ url: '/metrics', headers, remoteAddress })).statusCode;

  test('is open, asks for a key, or answers loopback only', async () => {
    const owner = { authorization: 'Bearer wk-bootstrap' };
    expect(await status(server, {}, '10.0.0.7')).toBe(200);
    const keyed = await openAs({ metricsAccess: 'key' }, server);
    expect(await status(keyed, {})).toBe(401);
    expect(await status(keyed, owner)).toBe(200);
    const local = await openAs({ metricsAccess: 'loopback' }, server);
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(await status(local, {}, address)).toBe(200);
    expect(await status(local, owner, '10.0.0.7')).toBe(403);
  });
});

test('a request with two Host headers is refused, whichever comes first', async () => {
  const url = new URL(await server.app.listen({ port: 0, host: '127.0.0.1' }));
  const answerTo = async (hosts: readonly string[]): Promise<string> => {
    const socket = connect(Number(url.port), url.hostname);
    const lines = hosts.map((host) => `Host: ${host}\r\n`).join('');
    socket.end(`GET /v1/health HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`);
    return text(socket);
  };
  expect(await answerTo(['localhost'])).toMatch(/^HTTP\/1\.1 200/);
  for (const hosts of [
    ['localhost', 'evil.example'],
    ['evil.example', 'localhost'],
    ['localhost', 'localhost'],
  ])
    expect(await answerTo(hosts)).toMatch(/^HTTP\/1\.1 400 [\s\S]*more than one Host header/);
});
