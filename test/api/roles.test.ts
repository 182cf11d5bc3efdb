// A server with a part of the roles answers what is its own and what every server answers; for the rest it names the role that
// does it, before it looks at key or body.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROLES } from '#domain/role';
import { BASE, chat, containing, openTestServer, runScenarios, send, type TestServer } from './test-server.ts';

describe.each(ROLES)('a server with the role %s', (role) => {
  let server: TestServer;
  beforeAll(async () => (server = await openTestServer({ roles: [role] })));
  afterAll(() => server.close());

  const elsewhere = (other: string) => ({
    status: 503,
    answer: { error: { code: 'other_role', message: containing(`a server with the role ${other}`) } },
    answerHeaders: { 'retry-after': '1' },
  });
  const ours = { status: 200 };

  runScenarios(
    () => server,
    [
      ...[
        '/v1/health',
        '/health',
        '/ping',
        '/version',
        '/load',
        '/metrics',
        '/docs',
        '/openapi.json',
        '/',
        '/v1/models',
        `/v1/models/${BASE}`,
      ].map((url) => ({
        name: `answers ${url}`,
        url,
        ...ours,
      })),
      {
        name: 'says what it is asked to chat',
        url: '/v1/chat/completions',
        body: chat(),
        ...(role === 'serve' ? ours : elsewhere('serve')),
      },
      ...['models', 'training-jobs', 'base-models'].map((path) => ({
        name: `says what it is asked of ${path}`,
        url: `/v1/preview/${path}`,
        ...(role === 'api' ? ours : elsewhere('api')),
      })),
      ...['artifacts', 'usage', 'webhooks', 'keys'].map((path) => ({
        name: `says what it is asked of ${path}`,
        url: `/v1/${path}`,
        ...(role === 'api' ? ours : elsewhere('api')),
      })),
    ],
  );

  test('a body for another server is not read', async () => {
    if (role === 'api') return;
    const huge = {
      method: 'POST' as const,
      url: '/v1/preview/training-jobs',
      body: `{"x":"${'y'.repeat(1_000_000)}"}`,
    };
    expect((await send(server, huge)).statusCode).toBe(503);
  });
});
