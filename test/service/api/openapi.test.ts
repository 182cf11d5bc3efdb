// The OpenAPI document matches the server: every schema is valid, and every answer fits its declared schema.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OpenApiDocument } from '#api/description/openapi';
import { operationsOf } from '../clients/example-calls.ts';
import { BASE, chat, openTestServer, send, type ApiScenario, type TestServer } from '../../support/api/test-server.ts';

let server: TestServer;
let document: OpenApiDocument;
beforeAll(async () => {
  server = await openTestServer();
  document = (await send(server, { url: '/openapi.json' })).json();
});
afterAll(() => server.close());

const ajv = new Ajv2020({ strict: false, validateFormats: false });

function compile(schema: unknown) {
  const components = { components: document.components };
  return ajv.compile({ ...components, ...(schema as object) });
}

test('it is OpenAPI 3.1 and every schema in it compiles', () => {
  expect(document.openapi).toBe('3.1.0');
  const operations = operationsOf(document).map(({ operation }) => operation);
  expect(operations.length).toBeGreaterThan(20);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  for (const { requestBody, responses, parameters } of operations) {
    const contents = [requestBody, ...Object.values(responses)] as { content?: Record<string, { schema?: object }> }[];
    for (const content of contents)
      for (const { schema } of Object.values(content?.content ?? {})) if (schema) compile(schema);
    for (const { schema } of parameters) compile(schema);
  }
});

test('it is the committed one: what changes for clients shows in the diff (npx vitest run test/service/api/openapi.test.ts -u)', async () => {
  const text = `${JSON.stringify({ ...document, info: { ...document.info, version: '' } }, null, 1)}\n`;
  await expect(text).toMatchFileSnapshot('../../../docs/openapi.json');
});

test('it includes the answers to a bad path and a bad Idempotency-Key', () => {
  const statuses = (path: string, method: string) => Object.keys(document.paths[path]![method]!.responses);
  expect(statuses('/v1/preview/models', 'post')).toEqual(expect.arrayContaining(['400', '409', '422']));
  expect(statuses('/v1/preview/models/{model_id}/checkpoints/{step}/download', 'get')).toEqual(
    expect.arrayContaining(['400', '404', '422']),
  );
});

test('it includes every answer of every endpoint', () => {
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, { requestBody, responses }] of Object.entries(operations)) {
      const expected = requestBody === undefined ? ['421', '500'] : ['408', '413', '415', '421', '500'];
      expect(Object.keys(responses), `${method} ${path}`).toEqual(expect.arrayContaining(expected));
    }
});

test('requests that are accepted match the schemas', () => {
  const bodyOf = (path: string) =>
    (document.paths[path]!['post']!.requestBody as { content: { 'application/json': { schema: object } } }).content[
      'application/json'
    ].schema;
  const fits = compile(bodyOf('/v1/chat/completions'));
  expect(fits(chat({ stop: ['a'], tools: [{ type: 'function', function: { name: 'f' } }], extra: 1 }))).toBe(true);
  expect(fits(chat({ messages: 'no' }))).toBe(false);
  expect(
    compile(bodyOf('/v1/preview/training-jobs'))({
      model_id: crypto.randomUUID(),
      trajectory_groups: [{ trajectories: [] }],
    }),
  ).toBe(true);
});

test('answers and failures match the schemas', async () => {
  const registered = await send(server, {
    url: '/v1/preview/models',
    body: { project: 'p', name: 'm', base_model: BASE },
  });
  const id = registered.json<{ id: string }>().id;
  const job = (
    await send(server, { url: '/v1/preview/training-jobs', body: { model_id: id, trajectory_groups: [] } })
  ).json<{ id: string }>().id;
  const requests: [path: string, request: Pick<ApiScenario, 'method' | 'url' | 'body' | 'headers'>][] = [
    [
      '/v1/chat/completions',
      { url: '/v1/chat/completions', body: chat({ model: 'default/p/m', n: 2, return_token_ids: true }) },
    ],
    ['/v1/chat/completions', { url: '/v1/chat/completions', body: {} }],
    ['/v1/chat/completions', { url: '/v1/chat/completions', body: chat({ model: 'nope' }) }],
    ['/v1/usage', { url: '/v1/usage' }],
    ['/v1/webhooks', { url: '/v1/webhooks', body: { url: 'https://example.com/' } }],
    ['/v1/webhooks', { url: '/v1/webhooks', body: { url: 'http://169.254.169.254/' } }],
    ['/v1/webhooks', { url: '/v1/webhooks' }],
    ['/v1/models', { url: '/v1/models' }],
    ['/v1/models', { url: '/v1/models', headers: { authorization: '' } }],
    ['/v1/models/{model}', { url: `/v1/models/${BASE}` }],
    ['/v1/preview/models', { url: '/v1/preview/models' }],
    ['/v1/preview/models', { url: '/v1/preview/models', body: { project: 'p', name: 'm', base_model: BASE } }],
    ['/v1/preview/models', { url: '/v1/preview/models?limit=0' }],
    ['/v1/preview/models/{model_id}', { url: `/v1/preview/models/${id}` }],
    ['/v1/preview/models/{model_id}/checkpoints', { url: `/v1/preview/models/${id}/checkpoints` }],
    [
      '/v1/preview/models/{model_id}/log',
      { url: `/v1/preview/models/${id}/log`, body: { split: 'val', trajectory_groups: [] } },
    ],
    ['/v1/preview/training-jobs', { url: '/v1/preview/training-jobs' }],
    ['/v1/preview/training-jobs/{training_job_id}', { url: `/v1/preview/training-jobs/${job}` }],
    ['/v1/preview/training-jobs/{training_job_id}/events', { url: `/v1/preview/training-jobs/${job}/events` }],
    [
      '/v1/preview/training-jobs/{training_job_id}/cancel',
      { method: 'POST', url: `/v1/preview/training-jobs/${job}/cancel` },
    ],
    [
      '/v1/preview/training-jobs/{training_job_id}/cancel',
      { method: 'POST', url: `/v1/preview/training-jobs/${job}/cancel` },
    ],
    [
      '/v1/preview/models/{model_id}/checkpoints',
      { method: 'DELETE', url: `/v1/preview/models/${id}/checkpoints`, body: { steps: [] } },
    ],
    ['/v1/preview/models/{model_id}', { method: 'DELETE', url: `/v1/preview/models/${id}` }],
    ['/v1/preview/base-models', { url: '/v1/preview/base-models' }],
    ['/v1/health', { url: '/v1/health' }],
    ['/v1/system-check', { url: '/v1/system-check' }],
  ];
  for (const [path, request] of requests) {
    const response = await send(server, request);
    const method = (request.method ?? (request.body === undefined ? 'GET' : 'POST')).toLowerCase();
    const { operation } = operationsOf(document).find(({ name }) => name === `${method.toUpperCase()} ${path}`)!;
    const described = operation.responses[String(response.statusCode)] as
      { content: { 'application/json': { schema: object } } } | undefined;
    expect(described, `${method} ${path} ${response.statusCode} is not described`).toBeDefined();
    const fits = compile(described!.content['application/json'].schema);
    expect(fits(response.json()), `${method} ${path} ${response.statusCode}: ${ajv.errorsText(fits.errors)}`).toBe(
      true,
    );
  }
});
