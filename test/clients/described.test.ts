// The description of the API for people: every operation and field has words, and every example is sent to a server on the starter
// model, which answers it as described. The protocols of the Tinker SDK and the `wandb` library are their makers' to describe.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { EXAMPLE_IDS, FILE_EXAMPLE } from '#api/examples';
import type { OpenApiDocument, Operation } from '#api/openapi';
import { KEY, openStarterServer, type StarterServer } from './starter-server.ts';

const OTHERS = ['Tinker', 'W&B'];

/** What an example is answered with where it does not succeed, and why. */
const ANSWERED: Readonly<Record<string, number>> = {
  'GET /v1/runs/{entity}/{project}/{run}': 404, // runs are made by the wandb library
  'GET /v1/runs/{entity}/{project}/{run}/history': 404,
  'DELETE /v1/runs/{entity}/{project}/{run}': 404,
  'GET /v1/responses/{response_id} starting_after': 400, // goes with stream, of a response of the background
  'POST /v1/responses/{response_id}/cancel': 400, // it is none of the background
  'POST /v1/preview/training-jobs/{training_job_id}/cancel': 409, // it has ended
  'POST /v1/preview/training-jobs/{training_job_id}/evaluation/cancel': 409,
  'POST /v1/preview/dpo-training-jobs': 404, // the example of a file has conversations, no pairs
  'POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver': 404, // no job ended since the webhook was made
  'GET /v1/workers/connect': 426, // no WebSocket
  'GET /v1/workers/files/{sha256}': 404, // no worker asked for one
  'PUT /v1/workers/uploads/{sha256}': 400, // comes in pieces
  'GET /docs/{file}': 404, // names change with versions
  'GET /assets/{file}': 404,
};

/** They make what others read; the rest follows, with deletions last. */
const FIRST = [
  'PUT /v1/artifacts/{entity}/{project}/{artifact}/{path}',
  'PUT /v1/artifacts/{entity}/{project}/{artifact}',
  'POST /v1/preview/models',
  'POST /v1/preview/training-jobs',
  'POST /v1/preview/models/{model_id}/log',
  'POST /v1/responses',
];

interface Described {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

let server: StarterServer;
let document: OpenApiDocument;
let operations: Described[];
beforeAll(async () => {
  server = await openStarterServer();
  document = (await (await fetch(new URL('/openapi.json', server.baseUrl))).json()) as OpenApiDocument;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => !tags.some((tag) => OTHERS.includes(tag)))
      .map(([method, operation]) => {
        const name = `${method.toUpperCase()} ${path}`;
        return { name, method: method.toUpperCase(), path, operation };
      }),
  );
}, 120_000);
afterAll(() => server.close());

type Content = Readonly<Record<string, { readonly schema?: object; readonly example?: unknown }>>;
const contentOf = (part: unknown): Content => (part as { content?: Content } | undefined)?.content ?? {};

test('every operation and every field of it has words', () => {
  const silent = operations.flatMap(({ name, operation: { summary, description, parameters, ...operation } }) => [
    ...(summary && description ? [] : [name]),
    ...parameters.filter((each) => !each.description).map((each) => `${name}: parameter ${each.name}`),
    ...Object.values(contentOf(operation.requestBody)).flatMap(({ schema }) => silentFields(schema, `${name}: body`)),
    ...Object.values(contentOf(operation.responses['200'])).flatMap(({ schema }) =>
      silentFields(schema, `${name}: 200`),
    ),
  ]);
  expect(silent).toEqual([]);
  for (const { tags } of Object.values(document.paths).flatMap((methods) => Object.values(methods)))
    expect(document.tags.map(({ name }) => name)).toEqual(expect.arrayContaining([...tags]));
});

function silentFields(schema: unknown, at: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((part) => silentFields(part, at));
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, ...others } = schema as { properties?: Record<string, { description?: string }> };
  return [
    ...Object.entries(properties).flatMap(([field, inside]) => [
      ...(inside.description ? [] : [`${at}.${field}`]),
      ...silentFields(inside, `${at}.${field}`),
    ]),
    ...['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'].flatMap((key) =>
      silentFields((others as Record<string, unknown>)[key], at),
    ),
  ];
}

test('every operation has an example of its body and of each parameter', () => {
  const without = operations.flatMap(({ name, operation: { parameters, requestBody } }) => [
    ...parameters.filter(({ examples }) => !examples).map((each) => `${name}: parameter ${each.name}`),
    ...Object.values(contentOf(requestBody))
      .filter(({ example }) => example === undefined)
      .map(() => `${name}: body`),
  ]);
  expect(without).toEqual([]);
});

test('every example is answered as described', { timeout: 300_000 }, async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const real: Record<string, string> = {};
  const fill = (text: string) => Object.entries(real).reduce((filled, [from, to]) => filled.replaceAll(from, to), text);

  async function send({ name, method, path, operation }: Described, query: Record<string, unknown> = {}) {
    const given = new Map(operation.parameters.map((each) => [each.name, each.examples?.usual.value]));
    const filled = path.replace(/\{(\w+)\}/g, (_, each: string) => fill(String(given.get(each))));
    const url = new URL(filled, server.baseUrl);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, fill(String(value)));
    const [body] = Object.entries(contentOf(operation.requestBody));
    const isFile = body?.[0] === 'application/octet-stream';
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${KEY}`, ...(body ? { 'content-type': body[0] } : {}) },
      ...(body ? { body: isFile ? FILE_EXAMPLE : fill(JSON.stringify(body[1].example)) } : {}),
    });
    const text = await response.text();
    const about = `${name} ${url.search}: ${response.status} ${text.slice(0, 300)}`;
    const expected = ANSWERED[[name, ...Object.keys(query)].join(' ')] ?? ANSWERED[name];
    if (expected === undefined) expect(response.ok, about).toBe(true);
    else expect(response.status, about).toBe(expected);
    const type = (response.headers.get('content-type') ?? '').split(';')[0]!;
    const content = contentOf(operation.responses[String(response.status)]);
    expect(Object.keys(content), about).toContain(type);
    if (type !== 'application/json') return null;
    const fits = ajv.compile({ components: document.components, ...content[type]!.schema });
    const read = JSON.parse(text) as { id?: string; data?: { id?: string }[] };
    expect(fits(read), `${about} ${ajv.errorsText(fits.errors)}`).toBe(true);
    return read;
  }

  const made = async (name: string, example: string | undefined) => {
    const answer = await send(operations.find((each) => each.name === name)!);
    if (example !== undefined) real[example] = answer!.id!;
  };
  const examples: Readonly<Record<string, string>> = {
    'POST /v1/preview/models': EXAMPLE_IDS.model,
    'POST /v1/preview/training-jobs': EXAMPLE_IDS.job,
    'POST /v1/responses': EXAMPLE_IDS.response,
  };
  for (const name of FIRST) {
    await made(name, examples[name]);
    if (name === 'POST /v1/preview/training-jobs') await jobEnds(real[EXAMPLE_IDS.job]!);
  }
  await made('POST /v1/keys', EXAMPLE_IDS.key);
  const logs = await send(operations.find(({ name }) => name === 'GET /v1/preview/models/{model_id}/logs')!);
  real[EXAMPLE_IDS.log] = logs!.data![0]!.id!;

  const rest = operations.filter(({ name }) => !FIRST.includes(name) && name !== 'POST /v1/keys');
  for (const described of rest.filter(({ method }) => method !== 'DELETE')) {
    const answer = await send(described);
    if (described.name === 'POST /v1/preview/sft-training-jobs') await jobEnds(answer!.id!);
    if (described.name === 'POST /v1/webhooks') real[EXAMPLE_IDS.webhook] = answer!.id!;
    if (ANSWERED[described.name] !== undefined) continue;
    for (const { name, examples } of described.operation.parameters.filter((each) => each.in === 'query')) {
      const last = answer?.data?.at(-1)?.id;
      if (name !== 'after') await send(described, { [name]: examples?.usual.value });
      else if (last !== undefined) await send(described, { after: last });
    }
  }
  for (const described of rest.filter(({ method }) => method === 'DELETE').reverse()) await send(described);

  async function jobEnds(id: string) {
    await vi.waitFor(
      async () => {
        const url = `${server.baseUrl}/preview/training-jobs/${id}`;
        const job = (await (await fetch(url, { headers: { authorization: `Bearer ${KEY}` } })).json()) as {
          status: string;
        };
        expect(job.status).toBe('succeeded');
      },
      { timeout: 120_000, interval: 200 },
    );
  }
});
