// The API reference is complete: every operation and field has a description, and every operation has an example, which is sent
// to a server on the starter model and answered as described.
import { createHash } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { EXAMPLE_IDS } from '#api/description/examples';
import type { OpenApiDocument } from '#api/description/openapi';
import { openReceiver, type Receiver } from '../api/webhook-receiver.ts';
import { exampleOf, fitsExample } from './answer-examples.ts';
import { answerFiles } from './answer-files.ts';
import { call, contentOf, failureNameIn, operationsOf, type Described, type Difference } from './example-calls.ts';
import { KEY, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';

/** The status of examples that do not succeed, and why. */
const ANSWERED: Readonly<Record<string, number>> = {
  'GET /v1/responses/{response_id} starting_after': 400, // goes with stream, for a background response
  'POST /v1/responses/{response_id}/cancel': 400, // not a background response
  'POST /v1/preview/training-jobs/{training_job_id}/cancel': 409, // it has ended
  'POST /v1/preview/training-jobs/{training_job_id}/evaluation/cancel': 409,
  'GET /v1/workers/connect': 426, // no WebSocket
  'GET /v1/workers/files/{sha256}': 404, // no worker asked for one
  'GET /tinker/api/v1/training_runs project_id': 422, // there are no projects
  'GET /docs/{file}': 404, // names change with versions
  'GET /assets/{file}': 404,
};

/** Operations that the loop over all operations skips because the scenario has sent them. */
const MADE = [
  'POST /v1/webhooks',
  'PUT /v1/artifacts/{entity}/{project}/{artifact}/{path}',
  'PUT /v1/artifacts/{entity}/{project}/{artifact}',
  'POST /v1/preview/models',
  'POST /v1/preview/episodes',
  'PUT /v1/preview/models/{model_id}/online-training',
  'POST /v1/preview/training-jobs',
  'POST /v1/preview/models/{model_id}/log',
  'POST /v1/keys',
  'POST /v1/responses',
  'POST /tinker/api/v1/create_session',
  'PUT /wandb/files',
  'GET /wandb/files',
  'GET /tinker/api/v1/external_files',
];
/** What later operations read, in this order; the same number is executed once, so the loop can send them again. */
const TINKER_STEPS = [
  'create_model',
  'forward_backward',
  'optim_step',
  'save_weights',
  'save_weights_for_sampler',
  'save_weights_external',
].map((step) => `POST /tinker/api/v1/${step}`);
const TINKER_RUN = `${EXAMPLE_IDS.session}:train:0`;
const TRAINS = ['POST /v1/preview/sft-training-jobs', 'POST /v1/preview/dpo-training-jobs'];

/** How to request the other forms of an answer. */
const STREAMED = [{ fields: { stream: true } }];
const OTHER_FORMS: Readonly<Record<string, readonly Difference[]>> = {
  'POST /v1/chat/completions': STREAMED,
  'POST /v1/completions': STREAMED,
  'POST /inference/v1/generate': STREAMED,
  'POST /v1/messages': STREAMED,
  'GET /v1/preview/training-jobs/{training_job_id}/events': [{ headers: { accept: 'text/event-stream' } }],
  'GET /v1/preview/models/{model_id}/metrics': [{ query: { format: 'jsonl' } }, { query: { format: 'csv' } }],
  'GET /v1/runs/{entity}/{project}/{run}/history': [{ query: { format: 'jsonl' } }],
  'POST /tinker/api/v1/retrieve_future': [{ fields: { request_id: `${TINKER_RUN}/1` } }],
};

/** Content types that deserve an example; files and pages are shown as they are. */
const SHOWN = ['application/json', 'text/event-stream', 'application/jsonl', 'text/csv', 'text/plain'];

/** Has no example of its answer, which would be this whole document, including the example. */
const NOT_SHOWN = 'GET /openapi.json: application/json';

/** A body without its required fields, with an invalid model, or no object. Null: any body would do, as for a file. */
function faultyBody({ requestBody }: Described['operation']): object | null {
  const { schema, example } = contentOf(requestBody)['application/json'] ?? {};
  if (schema === undefined) return null;
  const { required = [], additionalProperties } = schema as { required?: string[]; additionalProperties?: unknown };
  if (required.length > 0) return {};
  return additionalProperties === false || 'model' in (example as object) ? { ...(example as object), model: 7 } : [];
}

/** Whether the resource in its path is missing once all has been deleted, and the ids of the example are unknown. */
const isMissing = ({ name, method, path, operation }: Described): boolean =>
  '404' in operation.responses &&
  /\{(model_id|training_job_id|log_id|response_id|key_id|webhook_id|artifact|run|run_id|sampler_id|session_id)\}/.test(
    path,
  ) &&
  !(method === 'PUT' && path.includes('{artifact}')) &&
  !(name in ANSWERED);

const takesLink = ({ operation }: Described): boolean => operation.parameters.some(({ name }) => name === 'link');

interface Read {
  readonly id?: string;
  readonly session_id?: string;
  readonly data?: readonly { readonly id?: string }[];
  readonly urls?: Readonly<Record<string, string>>;
}

let server: StarterServer;
let receiver: Receiver;
let document: OpenApiDocument;
let operations: Described[];
beforeAll(async () => {
  receiver = await openReceiver();
  server = await openStarterServer(KEY, { allowedWebhookNetwork: ['127.0.0.1'] });
  document = (await (await fetch(new URL('/openapi.json', server.baseUrl))).json()) as OpenApiDocument;
  operations = operationsOf(document);
}, 120_000);
afterAll(async () => {
  await server.close();
  await receiver.close();
});

test('every operation and every field of it has words', () => {
  const silent = operations.flatMap(({ name, operation: { summary, description, parameters, ...operation } }) => [
    ...(summary && description ? [] : [name]),
    ...parameters.filter((each) => !each.description).map((each) => `${name}: parameter ${each.name}`),
    ...Object.values(contentOf(operation.requestBody)).flatMap(({ schema }) => silentFields(schema, `${name}: body`)),
    ...Object.entries(operation.responses).flatMap(([status, response]) =>
      Object.values(contentOf(response)).flatMap(({ schema }) => silentFields(schema, `${name}: ${status}`)),
    ),
    ...Object.values(contentOf(operation.responses['200'])).flatMap(({ schema }) => openObjects(schema, name)),
  ]);
  const { schemas } = document.components as { schemas: object };
  const silentFailures = Object.entries(schemas).flatMap(([name, schema]) => silentFields(schema, name));
  expect([...silent, ...silentFailures]).toEqual([]);
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

/**
 * Objects of an answer that declare no fields and allow any, so that the reference shows none. A map states its values instead.
 * `isDescribed`: the field that may hold the object has a description.
 */
function openObjects(schema: unknown, at: string, isDescribed = false): string[] {
  if (Array.isArray(schema)) return schema.flatMap((part) => openObjects(part, at, isDescribed));
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, additionalProperties, description, ...others } = schema as Record<string, unknown>;
  const fields = Object.entries(properties ?? {});
  const isOpen = properties !== undefined && fields.length === 0 && additionalProperties !== false;
  const isNamed = isDescribed || description !== undefined;
  return [
    ...(isOpen && !isNamed ? [`${at}: any fields`] : []),
    ...fields.flatMap(([field, inside]) => openObjects(inside, `${at}.${field}`)),
    ...['items', 'prefixItems'].flatMap((key) => openObjects(others[key], at)),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((key) => openObjects(others[key], at, isNamed)),
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

test('every operation has an example of its answers and of its usual errors', () => {
  const without = operations.flatMap(({ name, operation: { security, requestBody, responses } }) => [
    ...Object.entries(contentOf(responses['200'])) // the other successful ones have no body
      .filter(([type, { example }]) => SHOWN.includes(type) && example === undefined)
      .map(([type]) => `${name}: ${type}`),
    ...[security.length > 0 && '401', 'application/json' in contentOf(requestBody) && requestBody && '422']
      .filter((status) => status !== false && status !== undefined && status in responses)
      .filter((status) => contentOf(responses[status as string])['application/json']?.example === undefined)
      .map((status) => `${name}: ${String(status)}`),
  ]);
  expect(without).toEqual([NOT_SHOWN]);
});

test('every example is answered as described and like the example of its answer', { timeout: 300_000 }, async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const real: Record<string, string> = {};
  const shownAs: [id: string, example: string][] = [];
  const recorded: Record<string, Record<string, unknown>> = {};
  const failures: Record<string, unknown> = {};
  const named = (name: string) => operations.find((each) => each.name === name)!;

  /** Null: the answer is not JSON. */
  async function send(described: Described, difference: Difference & { readonly status?: number } = {}) {
    const { name, operation } = described;
    const { query = {} } = difference;
    const response = await call(server, described, real, difference);
    const text = await response.text();
    const about = `${name} ${new URL(response.url).search}: ${response.status} ${text.slice(0, 300)}`;
    const expected = difference.status ?? ANSWERED[[name, ...Object.keys(query)].join(' ')] ?? ANSWERED[name];
    if (expected === undefined) expect(response.ok, about).toBe(true);
    else expect(response.status, about).toBe(expected);
    const type = (response.headers.get('content-type') ?? '').split(';')[0]!;
    const answered = operation.responses[String(response.status)];
    expect(answered, about).toBeDefined();
    const content = contentOf(answered);
    if (response.status === 204) {
      expect([text, content], about).toEqual(['', {}]);
      return null;
    }
    expect(Object.keys(content), about).toContain(type);
    const example = content[type]!.example;
    const shown = exampleOf(type, text);
    const kept = shown !== null && fitsExample(type, example, text) ? example : shown;
    if (!response.ok) failures[failureNameIn(document, described, response.status)] ??= kept;
    else if (shown !== null && `${name}: ${type}` !== NOT_SHOWN) (recorded[name] ??= {})[type] ??= kept;
    if (type !== 'application/json') return null;
    const fits = ajv.compile({ components: document.components, ...content[type]!.schema });
    const read = JSON.parse(text) as Read;
    expect(fits(read), `${about} ${ajv.errorsText(fits.errors)}`).toBe(true);
    return read;
  }

  /** Without a key, and without the required fields of the body. */
  async function sendFaulty(described: Described) {
    const { operation } = described;
    if (operation.security.length > 0) await send(described, { headers: { authorization: '' }, status: 401 });
    const body = faultyBody(operation);
    if (body !== null) await send(described, { body, status: '422' in operation.responses ? 422 : 400 });
  }

  function know(example: string, id: string): string {
    shownAs.push([id, example]);
    return (real[example] = id);
  }

  async function make(name: string, example: string, difference: Difference = {}) {
    const made = await send(named(name), difference);
    return know(example, made!.id!);
  }

  async function sendByLink(name: string, url: string) {
    real[EXAMPLE_IDS.link] = new URL(url).searchParams.get('link')!;
    await send(named(name));
  }

  async function futureEnds(id: string) {
    const future = named('POST /tinker/api/v1/retrieve_future');
    await vi.waitFor(
      async () => {
        const response = await call(server, future, real, { fields: { request_id: id } });
        expect(response.status).toBe(200);
        expect(await response.text()).not.toContain('"error"');
      },
      { timeout: 60_000, interval: 100 },
    );
    await send(future, { fields: { request_id: id } });
  }

  async function jobEnds(id: string, what = '') {
    await vi.waitFor(
      async () => {
        const url = `${server.baseUrl}/preview/training-jobs/${id}${what}`;
        expect(await (await fetch(url, { headers: { authorization: `Bearer ${KEY}` } })).json()).toMatchObject({
          status: 'succeeded',
        });
      },
      { timeout: 120_000, interval: 200 },
    );
  }

  await prepare(server);
  await make('POST /v1/webhooks', EXAMPLE_IDS.webhook, { fields: { url: receiver.url } });
  await send(named('PUT /v1/artifacts/{entity}/{project}/{artifact}/{path}'));
  await send(named('PUT /v1/artifacts/{entity}/{project}/{artifact}'));
  await make('POST /v1/preview/models', EXAMPLE_IDS.model);
  await make('POST /v1/preview/episodes', EXAMPLE_IDS.episode);
  await send(named('PUT /v1/preview/models/{model_id}/online-training'));
  const headers = { 'x-whetstone-episode': 'sum-37-1' };
  await call(server, named('POST /v1/chat/completions'), real, { headers, fields: { model: 'demo/sums' } });
  const job = await make('POST /v1/preview/training-jobs', EXAMPLE_IDS.job);
  await make('POST /v1/preview/training-jobs', EXAMPLE_IDS.job); // waits behind the first job
  await send(named('POST /v1/preview/training-jobs/{training_job_id}/evaluation/cancel'), { status: 200 });
  await send(named('POST /v1/preview/training-jobs/{training_job_id}/cancel'), { status: 200 });
  real[EXAMPLE_IDS.job] = job;
  await jobEnds(job);
  await jobEnds(job, '/evaluation');
  await vi.waitFor(() => expect(receiver.received).toHaveLength(1), 20_000);
  know(EXAMPLE_IDS.delivery, String(receiver.received[0]!.headers['webhook-id']));
  await send(named('POST /v1/preview/models/{model_id}/log'));
  const logs = await send(named('GET /v1/preview/models/{model_id}/logs'));
  know(EXAMPLE_IDS.log, logs!.data![0]!.id!);
  await make('POST /v1/keys', EXAMPLE_IDS.key);
  const streamed = await call(server, named('POST /v1/responses'), real, {
    fields: { background: true, stream: true },
  });
  know(EXAMPLE_IDS.response, /"id":"(resp_\w+)"/.exec(await streamed.text())![1]!);
  await send(named('GET /v1/responses/{response_id}'), { query: { stream: true } });
  await send(named('POST /v1/responses/{response_id}/cancel'), { status: 200 });
  await make('POST /v1/responses', EXAMPLE_IDS.response);
  await send(named('POST /v1/responses'), { fields: { stream: true } });

  const session = await send(named('POST /tinker/api/v1/create_session'));
  know(EXAMPLE_IDS.session, session!.session_id!);
  for (const step of TINKER_STEPS) await send(named(step));
  for (const number of TINKER_STEPS.keys()) await futureEnds(`${TINKER_RUN}/${number}`);
  const external = await send(
    named('GET /tinker/api/v1/training_runs/{run_id}/checkpoints/external_weights/{name}/external_weights_urls'),
  );
  await sendByLink('GET /tinker/api/v1/external_files', external!.urls!['adapter_config.json']!);
  const [upload, download] = await fileUrls(server);
  await sendByLink('PUT /wandb/files', upload);
  await sendByLink('GET /wandb/files', download);

  for (const described of operations.filter(({ method }) => method !== 'DELETE')) {
    if (MADE.includes(described.name)) continue;
    const answer = await send(described);
    if (TRAINS.includes(described.name)) await jobEnds(answer!.id!);
    for (const difference of OTHER_FORMS[described.name] ?? []) await send(described, difference);
    if (ANSWERED[described.name] !== undefined) continue;
    for (const { name, examples } of described.operation.parameters.filter((each) => each.in === 'query')) {
      const last = answer?.data?.at(-1)?.id;
      if (name !== 'after') await send(described, { query: { [name]: examples?.usual.value } });
      else if (last !== undefined) await send(described, { query: { after: last } });
    }
  }
  for (const described of operations) await sendFaulty(described);
  for (const described of operations.filter(({ method }) => method === 'DELETE').reverse()) await send(described);
  for (const example of Object.keys(real)) delete real[example];
  for (const described of operations.filter(isMissing)) await send(described, { status: 404 });
  for (const described of operations.filter(takesLink)) await send(described, { status: 403 });

  for (const { path, text } of answerFiles(operations, recorded, failures))
    await expect(asShown(text, shownAs)).toMatchFileSnapshot(`../../../src/api/description/answer-examples/${path}`);
});

/** What examples refer to and no example makes: pairs to train on, and a run of the wandb library. */
async function prepare({ baseUrl }: StarterServer): Promise<void> {
  const sent = async (method: string, path: string, headers: Record<string, string>, body: string) => {
    const response = await fetch(new URL(path, baseUrl), { method, headers, body });
    expect(response.ok, `${path}: ${response.status}`).toBe(true);
  };
  const bearer = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const file = { ...bearer, 'content-type': 'application/octet-stream' };
  const pair = (a: number) => ({
    prompt: [{ role: 'user', content: `What is ${a} + 1?` }],
    chosen: [{ role: 'assistant', content: String(a + 1) }],
    rejected: [{ role: 'assistant', content: String(a) }],
  });
  const pairs = [1, 2].map((a) => `${JSON.stringify(pair(a))}\n`).join('');
  await sent('PUT', '/v1/artifacts/~/demo/pairs/train.jsonl', file, pairs);
  const sha256 = createHash('sha256').update(pairs).digest('hex');
  const version = JSON.stringify({ type: 'dataset', files: [{ path: 'train.jsonl', sha256 }] });
  await sent('PUT', '/v1/artifacts/~/demo/pairs', bearer, version);

  const basic = { ...bearer, authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}` };
  const query = `mutation { upsertBucket(input: {name: "first-run", modelName: "demo", config: "{\\"lr\\": {\\"value\\": 0.1}}"}) { inserted } }`;
  await sent('POST', '/graphql', basic, JSON.stringify({ query, variables: {}, operationName: '' }));
  const history = { offset: 0, content: ['{"_step":0,"loss":1.5}', '{"_step":1,"loss":1.2}'] };
  const files = { 'wandb-history.jsonl': history };
  await sent('POST', '/files/default/demo/first-run/file_stream', basic, JSON.stringify({ files }));
}

/** Links of the `wandb` library: to send a file of a run, and to read one of an artifact. */
async function fileUrls({ baseUrl }: StarterServer): Promise<[upload: string, download: string]> {
  const query = `mutation { createRunFiles(input: {entityName: "default", projectName: "demo", runName: "first-run", files: ["output.log"]}) { files { uploadUrl } } }`;
  const reading = `query { project(name: "demo", entityName: "default") { artifact(name: "questions:latest") { files { edges { node { directUrl } } } } } }`;
  const ask = async (query: string) => {
    const headers = {
      authorization: `Basic ${Buffer.from(`api:${KEY}`).toString('base64')}`,
      'content-type': 'application/json',
    };
    const response = await fetch(new URL('/graphql', baseUrl), {
      method: 'POST',
      headers,
      body: JSON.stringify({ query }),
    });
    return response.text();
  };
  const urlIn = (text: string) => /"(?:uploadUrl|directUrl)":"([^"]+)"/.exec(text)?.[1] ?? expect.fail(text);
  return [urlIn(await ask(query)), urlIn(await ask(reading))];
}

/** With the ids of the examples, and addresses as a reader would see them. */
function asShown(text: string, shownAs: readonly (readonly [id: string, example: string])[]): string {
  const shown = shownAs.reduce((before, [id, example]) => before.replaceAll(id, example), text);
  return shown
    .replaceAll(receiver.url, 'https://example.com/jobs')
    .replaceAll(new URL(server.baseUrl).host, '127.0.0.1:8484')
    .replace(/\blink=[\w.-]+/g, `link=${EXAMPLE_IDS.link}`)
    .replace(/\bwk-[\w-]{20,}/g, 'wk-0123456789abcdef');
}
