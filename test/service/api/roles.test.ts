// A server with some of the roles serves the endpoints of those roles and the common ones; for the others it names the required
// role, before it reads the key or the body.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROLES } from '#domain/role';
import {
  BASE,
  chat,
  containing,
  openTestServer,
  runScenarios,
  send,
  type TestServer,
} from '../../support/api/test-server.ts';

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
        name: 'says which role chat needs',
        url: '/v1/chat/completions',
        body: chat(),
        ...(role === 'serve' ? ours : elsewhere('serve')),
      },
      ...['models', 'training-jobs', 'base-models'].map((path) => ({
        name: `says which role ${path} needs`,
        url: `/v1/preview/${path}`,
        ...(role === 'api' ? ours : elsewhere('api')),
      })),
      ...['artifacts', 'usage', 'webhooks', 'keys'].map((path) => ({
        name: `says which role ${path} needs`,
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

describe('a server that is alone on its data directory', () => {
  const refused = (start: string) => ({
    status: 400,
    answer: { error: { code: 'invalid_request', message: containing(`Start it with --role ${start} for that.`) } },
  });

  describe('and only chats', () => {
    let server: TestServer;
    beforeAll(async () => (server = await openTestServer({ roles: ['api', 'serve'], storeRoles: ['api', 'serve'] })));
    afterAll(() => server.close());
    runScenarios(
      () => server,
      [
        { name: 'chats', url: '/v1/chat/completions', body: chat(), status: 200 },
        { name: 'lists earlier jobs', url: '/v1/preview/training-jobs', status: 200 },
        ...['training-jobs', 'sft-training-jobs', 'dpo-training-jobs'].map((path) => ({
          name: `refuses ${path}, which would wait forever`,
          url: `/v1/preview/${path}`,
          body: {},
          ...refused('api,serve,train'),
        })),
      ],
    );
    test('nor a training run of Tinker', async () => {
      const answer = await send(server, { method: 'POST', url: '/tinker/api/v1/create_model', body: '{}' });
      expect(answer.statusCode).toBe(400);
      expect(answer.body).toContain('--role api,serve,train');
    });
  });

  describe('and only trains', () => {
    let server: TestServer;
    beforeAll(async () => (server = await openTestServer({ roles: ['api', 'train'], storeRoles: ['api', 'train'] })));
    afterAll(() => server.close());
    runScenarios(
      () => server,
      [
        { name: 'does not chat', url: '/v1/chat/completions', body: chat(), ...refused('api,serve,train') },
        { name: 'validates the body of a job', url: '/v1/preview/sft-training-jobs', body: {}, status: 422 },
      ],
    );
  });
});
