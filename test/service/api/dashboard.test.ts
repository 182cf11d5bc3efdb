// How the dashboard's files are served: headers, compression, prefixes, and the page shown if it is not built.
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { WebFile } from '#api/http/web-file';
import { send, shareTestServer } from '../../support/api/test-server.ts';

const file = (type: string, text: string): WebFile => ({
  type,
  content: Buffer.from(text),
  gzipped: gzipSync(text),
});
const dashboard = {
  page: file('text/html; charset=utf-8', '<!doctype html><title>Whetstone</title>'),
  assets: new Map([['index-abc.js', file('text/javascript; charset=utf-8', 'let page;')]]),
};
const built = await shareTestServer({ dashboard, limits: { basePath: '/api/training' }, roles: ['train'] });
const bare = await shareTestServer();
const KEYLESS = { authorization: '' };

test.each(['/', '/api/training/'])('%s serves the page without a key, whatever the server does', async (url) => {
  const response = await send(built, { url, headers: KEYLESS });
  expect(response.body).toContain('<title>Whetstone');
  expect(response.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  const policy = String(response.headers['content-security-policy']);
  expect(policy).toMatch(/^default-src 'self'; .*frame-ancestors 'none'/);
  expect(policy).not.toContain('unsafe');
});

test('a prefix without its slash redirects to the page, so that relative links resolve', async () => {
  const { statusCode, headers } = await send(built, { url: '/api/training?a=1', headers: KEYLESS });
  expect([statusCode, headers.location]).toEqual([307, 'training/']);
});

test('the link of a run leads a browser to its page, under any prefix; a program gets a 404, as anyone does for an unknown path', async () => {
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  for (const prefix of ['', '/api/training']) {
    const found = await send(built, { url: `${prefix}/team/demo/runs/r1`, headers: { ...KEYLESS, accept } });
    expect([found.statusCode, found.headers.location]).toEqual([307, '../../../#/runs/team/demo/r1']);
  }
  for (const [server, url, headers] of [
    [built, '/team/demo', KEYLESS],
    [built, '/v1/demo', { ...KEYLESS, accept }],
    [bare, '/team/demo', { ...KEYLESS, accept }],
  ] as const)
    expect((await send(server, { url, headers })).statusCode).toBe(404);
});

test('assets may be cached forever, and are sent gzipped to clients that accept that', async () => {
  for (const url of ['/assets/index-abc.js', '/api/training/assets/index-abc.js']) {
    const plain = await send(built, { url, headers: KEYLESS });
    expect([plain.statusCode, plain.body]).toEqual([200, 'let page;']);
    expect(plain.headers['cache-control']).toContain('immutable');
    const small = await send(built, { url, headers: { ...KEYLESS, 'accept-encoding': 'br, gzip' } });
    expect(small.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(gunzipSync(small.rawPayload).toString()).toBe('let page;');
  }
});

test.each(['/assets/other.js', '/assets/..%2findex.html', '/assets/__proto__'])('%s is a 404', async (url) => {
  expect((await send(built, { url, headers: KEYLESS })).statusCode).toBe(404);
});

test('if the dashboard is not built, a page without scripts says how to build it', async () => {
  const response = await send(bare, { url: '/', headers: KEYLESS });
  expect(response.body).toContain('npm run build');
  expect((await send(bare, { url: '/assets/index-abc.js', headers: KEYLESS })).statusCode).toBe(404);
});
