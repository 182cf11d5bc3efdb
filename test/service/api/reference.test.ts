// How the API reference page is served: its permissions, prefixes, its script, and the page shown if it is not built.
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { send, shareTestServer } from '../../support/api/test-server.ts';

const content = Buffer.from('let Scalar;');
const script = { type: 'text/javascript; charset=utf-8', content, gzipped: gzipSync(content) };
const reference = { scriptName: 'scalar-1.0.0.js', script };
const built = await shareTestServer({ reference, limits: { basePath: '/api/training' }, roles: ['train'] });
const bare = await shareTestServer();
const KEYLESS = { authorization: '' };

test.each(['/docs', '/api/training/docs'])(
  '%s serves the page without a key, whatever the server does',
  async (url) => {
    const { body, headers } = await send(built, { url, headers: KEYLESS });
    expect(body).toContain('src="docs/scalar-1.0.0.js"');
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'x-frame-options': 'DENY' });
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/^default-src 'self'; script-src 'self' 'sha256-[\w+/]{43}='; .*frame-ancestors 'none'$/);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    for (const off of ['"telemetry":false', '"withDefaultFonts":false', '"proxyUrl":""']) expect(body).toContain(off);
  },
);

test('a trailing slash redirects to the page, so that relative links resolve', async () => {
  const { statusCode, headers } = await send(built, { url: '/api/training/docs/', headers: KEYLESS });
  expect([statusCode, headers.location]).toEqual([307, '../docs']);
});

test('its script may be cached forever, and is sent gzipped to clients that accept that', async () => {
  const url = '/api/training/docs/scalar-1.0.0.js';
  const plain = await send(built, { url, headers: KEYLESS });
  expect([plain.statusCode, plain.body]).toEqual([200, 'let Scalar;']);
  expect(plain.headers['cache-control']).toContain('immutable');
  const small = await send(built, { url, headers: { ...KEYLESS, 'accept-encoding': 'br, gzip' } });
  expect(gunzipSync(small.rawPayload).toString()).toBe('let Scalar;');
  expect((await send(built, { url: '/docs/scalar-0.9.9.js', headers: KEYLESS })).statusCode).toBe(404);
});

test('if it is not built, a page without scripts says how to build it', async () => {
  expect((await send(bare, { url: '/docs', headers: KEYLESS })).body).toContain('npm run build');
  expect((await send(bare, { url: '/docs/scalar-1.0.0.js', headers: KEYLESS })).statusCode).toBe(404);
});
