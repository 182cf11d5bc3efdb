// What every endpoint shares: keys, ids, bodies, unknown paths, errors in both shapes.
import { describe, expect, test } from 'vitest';
import {
  asOwner,
  chat,
  containing,
  faults,
  matching,
  openTestServer,
  shareTestServer,
  runScenarios,
  send,
} from '../../support/api/test-server.ts';

const server = await shareTestServer({ limits: { basePath: '/api/training' } });

const url = '/v1/chat/completions';

describe('keys', () => {
  runScenarios(
    () => server,
    [
      {
        name: 'no key is a 401 that says how to get one, in both shapes',
        url: '/v1/models',
        headers: { authorization: '' },
        status: 401,
        answer: {
          detail: containing('whetstone keys create'),
          error: { type: 'authentication_error', code: 'invalid_api_key', param: null },
        },
        answerHeaders: { 'www-authenticate': 'Bearer' },
      },
      {
        name: 'a wrong key is a 401',
        url: '/v1/models',
        headers: { authorization: 'Bearer wk-wrong' },
        status: 401,
        answer: { error: { code: 'invalid_api_key' } },
      },
      {
        name: 'the scheme may be written in any case',
        url: '/v1/models',
        headers: { authorization: asOwner.authorization.replace('Bearer', 'bEaReR') },
        status: 200,
      },
      {
        name: 'the key is checked before the body is read',
        url,
        headers: { authorization: 'Bearer wk-wrong' },
        body: 'x'.repeat(100_000),
        status: 401,
      },
      {
        name: 'health needs no key',
        url: '/v1/health',
        headers: { authorization: '' },
        status: 200,
        answer: { status: 'ok' },
      },
    ],
  );

  test('a key made here works until it is revoked', async () => {
    const { key, secret } = await server.apiKeys.create({ entity: 'team', name: 'test' });
    const request = { url: '/v1/models', headers: { authorization: `Bearer ${secret}` } };
    expect((await send(server, request)).statusCode).toBe(200);
    expect(await server.apiKeys.revoke(key.id, null)).toBe('revoked');
    expect((await send(server, request)).statusCode).toBe(401);
    expect(JSON.stringify(await server.apiKeys.list(null))).not.toContain(secret);
  });

  test('a key is long enough for wandb, and the Tinker SDK may add its prefix', async () => {
    const { secret } = await server.apiKeys.create({ entity: 'team', name: 'test' });
    expect(secret).toMatch(/^wk-[A-Za-z0-9_-]{40}$/);
    const statusWith = async (key: string) =>
      (await send(server, { url: '/v1/models', headers: { authorization: `Bearer ${key}` } })).statusCode;
    expect(await statusWith(`tml-${secret}`)).toBe(200);
    expect(await statusWith(`tml-${asOwner.authorization.replace('Bearer ', '')}`)).toBe(200);
    expect(await statusWith(`tml-tml-${secret}`)).toBe(401);
    expect(await statusWith(secret.slice(0, -1))).toBe(401);
  });
});

describe('request ids', () => {
  runScenarios(
    () => server,
    [
      {
        name: 'every answer has an id',
        url: '/v1/health',
        status: 200,
        answerHeaders: { 'x-request-id': matching(/^[0-9a-f]{32}$/) },
      },
      {
        name: 'the client’s own id comes back',
        url: '/v1/health',
        headers: { 'x-request-id': 'mine-1' },
        status: 200,
        answerHeaders: { 'x-request-id': 'mine-1' },
      },
      {
        name: 'an id that could split headers is replaced',
        url: '/v1/health',
        headers: { 'x-request-id': 'a b' },
        status: 200,
        answerHeaders: { 'x-request-id': matching(/^[0-9a-f]{32}$/) },
      },
      { name: 'errors have an id too', url: '/nowhere', status: 404, answerHeaders: { 'x-request-id': matching(/./) } },
      {
        name: 'answers to refused keys have an id too',
        url: '/v1/models',
        headers: { authorization: '' },
        status: 401,
        answerHeaders: { 'x-request-id': matching(/./) },
      },
    ],
  );
});

describe('bodies', () => {
  runScenarios(
    () => server,
    [
      {
        name: 'broken JSON says where it breaks',
        url,
        body: '{"model": }',
        status: 422,
        answer: {
          detail: [
            {
              type: 'json_invalid',
              loc: ['body', 10],
              msg: 'JSON decode error',
              input: {},
              ctx: { error: 'Expecting value' },
            },
          ],
          error: {
            type: 'invalid_request_error',
            message: 'body.10: JSON decode error: Expecting value (json_invalid)',
          },
        },
      },
      {
        name: 'a body that is not UTF-8 is refused: decoded, it would say something else',
        url,
        body: Buffer.from('{"model": "\xef\xbf\xbd\xff"}', 'latin1'),
        status: 422,
        answer: { detail: [{ type: 'json_invalid', loc: ['body', 14], ctx: { error: 'Not UTF-8' } }] },
      },
      {
        name: 'a trajectory that is not UTF-8, too',
        url: '/v1/preview/training-jobs',
        body: Buffer.from('{"trajectory_groups": [{"trajectories": [{"a": "\xff"}]}]}', 'latin1'),
        status: 422,
        answer: { detail: [{ type: 'json_invalid', loc: ['body', 48], ctx: { error: 'Not UTF-8' } }] },
      },
      {
        name: 'half of a character is refused where it stands, because no token stands for it',
        url,
        body: String.raw`{"messages": [{"role": "user", "content": "\ud83d\ude00 \ud83d"}]}`,
        status: 422,
        answer: { detail: [{ type: 'string_unicode', loc: ['body', 'messages', 0, 'content'] }] },
      },
      {
        name: 'also in a trajectory',
        url: '/v1/preview/training-jobs',
        body: String.raw`{"trajectory_groups": [{}, {"trajectories": [{"reward": 1}, {"messages_and_choices": [{"content": "\udc00"}]}]}]}`,
        status: 422,
        answer: {
          detail: [
            {
              type: 'string_unicode',
              loc: ['body', 'trajectory_groups', 1, 'trajectories', 1, 'messages_and_choices', 0, 'content'],
            },
          ],
        },
      },
      {
        name: 'no body is a missing body',
        method: 'POST',
        url,
        status: 422,
        answer: { detail: [{ type: 'missing', loc: ['body'], input: null }] },
      },
      {
        name: 'a body that is not an object is refused as such',
        url,
        body: '[1]',
        status: 422,
        answer: { detail: [{ type: 'model_attributes_type', loc: ['body'] }] },
      },
      {
        name: 'another content type is refused with a hint',
        url,
        headers: { 'content-type': 'text/plain' },
        body: '{}',
        status: 422,
        answer: { detail: [{ type: 'model_attributes_type', msg: containing('application/json') }] },
      },
      {
        name: 'a body over the limit is a 413 in both shapes',
        url,
        body: chat({ user: 'x'.repeat(70_000) }),
        status: 413,
        answer: { detail: containing('limit'), error: { code: 'body_too_large' } },
      },
      {
        name: 'training data may be larger than a chat',
        url: '/v1/preview/training-jobs',
        body: { padding: 'x'.repeat(70_000) },
        status: 422,
      },
      {
        name: 'training data over its own limit is a 413',
        url: '/v1/preview/training-jobs',
        body: { padding: 'x'.repeat(300_000) },
        status: 413,
      },
    ],
  );

  test('an error for a large body does not echo the body', async () => {
    const response = await send(server, { url, body: { notes: Array.from({ length: 5_000 }, (_, i) => `note ${i}`) } });
    expect(faults(response)).toContain('body.messages missing');
    expect(response.body.length).toBeLessThan(5_000);
  });
});

describe('paths', () => {
  runScenarios(
    () => server,
    [
      { name: 'a trailing slash changes nothing', url: '/v1/health/', status: 200 },
      { name: 'a trailing slash changes nothing for a POST', url: `${url}/`, body: chat(), status: 200 },
      { name: 'every path works under the base path', url: '/api/training/v1/health', status: 200 },
      {
        name: 'a trailing slash works under the base path',
        url: '/api/training/v1/chat/completions/',
        body: chat(),
        status: 200,
      },
      { name: 'a path that only begins like the base path is unknown', url: '/api/trainings/v1/health', status: 404 },
      {
        name: 'an unknown path is a 404 in both shapes',
        url: '/v2',
        status: 404,
        answer: { detail: containing('Not Found'), error: { code: 'not_found' } },
      },
      {
        name: 'a wrong method is a 405 that lists the right ones',
        method: 'PUT',
        url: '/v1/preview/models',
        body: {},
        status: 405,
        answerHeaders: { allow: 'POST, GET' },
        answer: { error: { code: 'method_not_allowed' } },
      },
      {
        name: 'a wrong method that may have a body is a 405 too, also without a content type',
        method: 'QUERY',
        url: '/v1/preview/models',
        status: 405,
        answerHeaders: { allow: 'POST, GET' },
      },
      ...['x'.repeat(501), '%ff'].map((part) => ({
        name: `a path with ${part.slice(0, 3)} in it is a 400 that says what is wrong with it`,
        url: `/v1/preview/models/${part}`,
        status: 400,
        answer: { detail: matching(/^(?:The|A part of the) path .*\.$/), error: { code: 'invalid_request' } },
      })),
      {
        name: 'an Idempotency-Key over 255 characters is a 400',
        url: '/v1/preview/models',
        headers: { 'idempotency-key': 'x'.repeat(256) },
        body: { project: 'p', name: 'n', base_model: 'tiny/chat' },
        status: 400,
        answer: { detail: containing('1 to 255 characters') },
      },
    ],
  );
});

describe('the server’s own state', () => {
  runScenarios(
    () => server,
    [
      {
        name: 'the system check covers database and engines',
        url: '/v1/system-check',
        headers: { authorization: '' },
        status: 200,
        answer: {
          api: true,
          database: { success: true, errors: [] },
          cpu_queue: { success: true },
          gpu_queue: { success: true },
        },
      },
      {
        name: 'base models are a plain list of ids',
        url: '/v1/preview/base-models',
        headers: { authorization: '' },
        status: 200,
        answer: ['tiny/chat'],
      },
      {
        name: 'metrics count requests and tokens',
        url: '/metrics',
        status: 200,
        then(response) {
          expect(response.headers['content-type']).toContain('text/plain');
          expect(response.body).toMatch(/vllm:generation_tokens_total\{model_name="tiny\/chat"\} [1-9]/);
          expect(response.body).toMatch(
            /whetstone_http_request_seconds_count\{method="POST",route="\/v1\/chat\/completions",status="200"\} [1-9]/,
          );
        },
      },
      {
        name: 'the front page says how to start',
        url: '/',
        status: 200,
        then: ({ body }) => expect(body).toContain('tiny/chat'),
      },
      {
        name: 'the description of the API lists every endpoint',
        url: '/openapi.json',
        status: 200,
        then: ({ body }) => expect(body).toContain('/v1/preview/training-jobs/{training_job_id}/events'),
      },
    ],
  );

  test('the system check is a 503 while the database fails', async () => {
    const broken = await openTestServer();
    broken.storage.ping = () => Promise.reject(new Error('disk gone'));
    const response = await send(broken, { url: '/v1/system-check' });
    expect(response.statusCode).toBe(503);
    expect(response.json()).toMatchObject({ database: { success: false }, gpu_queue: { success: true } });
    expect(response.body).not.toContain('disk gone');
    await broken.close();
  });
});

describe('query parameters', () => {
  interface Described {
    parameters: { $ref?: string; name?: string; in?: string }[];
  }

  test('that a list of ours does not know are refused with those that it knows', async () => {
    const { paths } = (await send(server, { url: '/openapi.json' })).json<{
      paths: Record<string, Record<string, Described>>;
    }>();
    const lists = Object.entries(paths).filter(
      ([path, { get }]) => get && /^\/v1\/(?!models|responses|health|s)/.test(path),
    );
    expect(lists.length).toBeGreaterThan(30);
    for (const [path] of lists) {
      if (path.startsWith('/v1/workers')) continue;
      const response = await send(server, { url: `${path.replaceAll(/\{\w+\}/g, 'x')}?naem=1` });
      expect([path, response.statusCode]).toEqual([path, 422]);
      expect(faults(response)).toEqual(['query.naem extra_forbidden']);
    }
    const episodes = await send(server, { url: '/v1/preview/episodes?name=a&model=b' });
    expect(faults(episodes)).toEqual(['query.name extra_forbidden', 'query.model extra_forbidden']);
    expect(episodes.json<{ error: { message: string } }>().error.message).toContain(
      'knows after, limit, order, model_id',
    );
  });

  test.each(['/v1/models?foo=1', '/v1/models?beta=true', '/health?foo=1'])(
    '%s is answered as elsewhere',
    async (url) => {
      expect((await send(server, { url })).statusCode).toBe(200);
    },
  );

  test('of Claude Code are ignored', async () => {
    const body = { model: chat().model, max_tokens: 1, messages: [{ role: 'user', content: 'Hi' }] };
    expect((await send(server, { url: '/v1/messages?beta=true', body })).statusCode).toBe(200);
  });
});
