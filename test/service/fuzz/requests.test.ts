// Requests made of the API's own description: JSON bodies by their schemas, GraphQL by its types, Tinker's protobuf by its fields, each
// with small changes. Every one gets an answer or a refusal: no 500, no error in the log, no request without an end.
import { readFileSync } from 'node:fs';
import {
  buildSchema,
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isAbstractType,
  type GraphQLInputType,
  type GraphQLOutputType,
} from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Log, LogFields } from '#base/log';
import type { Random } from '#base/random';
import { AppError } from '#domain/errors';
import { readDatum, readForwardBackwardHead } from '#services/tinker/protobuf/forward-backward';
import { bytesOf } from '#services/tinker/protobuf/tensors';
import { createMessage } from '#services/tinker/protobuf/wire';
import { BASE, BOOTSTRAP_KEY, openTestServer, type TestServer } from '../../support/api/test-server.ts';
import { register } from '../../support/api/registered-model.ts';
import { fuzz, FUZZ_TIMEOUT_MS } from './fuzzing.ts';
import { mutateBytes, mutateJson, mutateText, ODD_NUMBERS, ODD_TEXTS, oddValue, oneOf } from './mutations.ts';

let server: TestServer;
let modelId: string;
const errors: string[] = [];
beforeAll(async () => {
  const noted = (event: string, fields?: LogFields): void => {
    const cause = fields?.['err'];
    errors.push(`${event}: ${cause instanceof Error ? cause.stack : JSON.stringify(fields)}`);
  };
  const log: Log = { debug() {}, info() {}, warn() {}, error: noted, child: () => log };
  server = await openTestServer({ acceptsTemplates: true, log });
  modelId = await register(server, 'fuzzed');
  await fill();
}, 120_000);
afterAll(() => server.close());

/** A run and an artifact, so that questions about them reach beyond the first look-up. */
async function fill(): Promise<void> {
  const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}` };
  const asked = async (method: 'PUT' | 'POST', url: string, payload: string, type = 'application/json') => {
    const answer = await server.app.inject({ method, url, payload, headers: { ...headers, 'content-type': type } });
    expect(answer.statusCode, answer.body).toBeLessThan(300);
  };
  const query = 'mutation { upsertBucket(input: {name: "r", modelName: "p", config: "{}"}) { inserted } }';
  await asked('POST', '/graphql', JSON.stringify({ query }));
  const history = {
    files: { 'wandb-history.jsonl': { offset: 0, content: ['{"loss":1,"_step":0}', '{"loss":2,"_step":1}'] } },
  };
  await asked('POST', '/files/default/p/r/file_stream', JSON.stringify(history));
  await asked('PUT', '/v1/artifacts/default/p/n/f.txt', 'Hello', 'application/octet-stream');
}

interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';
  readonly url: string;
  readonly payload?: string | Buffer;
  readonly type?: string;
}

async function sent({ method, url, payload, type }: Sent, signal: AbortSignal): Promise<number> {
  errors.length = 0;
  const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}`, ...(type === undefined ? {} : { 'content-type': type }) };
  const request = { method, url, headers, signal, ...(payload === undefined ? {} : { payload }) };
  const { statusCode, body } = await server.app.inject(request);
  expect(errors, `the log of ${method} ${url}`).toEqual([]);
  expect([500, 502, 504], `${statusCode} ${body.slice(0, 500)}`).not.toContain(statusCode);
  return statusCode;
}

const showRequest = ({ method, url, payload = '' }: Sent): string => `${method} ${url} ${payload.toString('utf8')}`;

// JSON

type Schema = Readonly<Record<string, unknown>>;
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        {
          readonly schema?: Schema;
          readonly example?: unknown;
          readonly examples?: Readonly<Record<string, { value: unknown }>>;
        }
      >
    >;
  };
}
const api = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
/** They wait by design: for events, for a worker, for the result of an operation. */
const WAITS = /events$|\/follow|\/workers\/|retrieve_future|\/stream$/;
const OPERATIONS = Object.entries(api.paths).flatMap(([path, methods]) =>
  WAITS.test(path) ? [] : Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

const DEPTH_MAX = 6;
function valueOf(schema: Schema | undefined, random: Random, depth = 0): unknown {
  if (!schema || depth > DEPTH_MAX || random.next() < 0.03) return oddValue(random);
  const { $ref: ref, enum: values, example, properties, items } = schema;
  if (typeof ref === 'string') return valueOf(api.components.schemas[ref.split('/').at(-1)!], random, depth);
  if ('const' in schema) return schema['const'];
  if (Array.isArray(values)) return oneOf(values, random) as unknown;
  if (example !== undefined && random.next() < 0.3) return example;
  const choices = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
  if (choices) return valueOf(oneOf(choices, random), random, depth + 1);
  const all = schema['allOf'] as Schema[] | undefined;
  if (all) return Object.assign({}, ...all.map((each) => valueOf(each, random, depth))) as unknown;
  const type = Array.isArray(schema['type']) ? (oneOf(schema['type'], random) as unknown) : schema['type'];
  if (type === 'array')
    return Array.from({ length: random.integer(4) }, () => valueOf(items as Schema, random, depth + 1));
  if (type === 'string') return oneOf([...NAMES, ...ODD_TEXTS], random);
  if (type === 'integer') return random.next() < 0.7 ? random.integer(8) : oneOf(ODD_NUMBERS, random);
  if (type === 'number') return random.next() < 0.5 ? random.next() : oneOf(ODD_NUMBERS, random);
  if (type === 'boolean') return random.next() < 0.5;
  if (type === 'null') return null;
  const required = new Set((schema['required'] as string[] | undefined) ?? []);
  const chosen = Object.entries((properties ?? {}) as Record<string, Schema>).filter(
    ([name]) => required.has(name) || random.next() < 0.15,
  );
  return Object.fromEntries(chosen.map(([name, each]) => [name, valueOf(each, random, depth + 1)]));
}

const NAMES = ['p', 'default', 'fuzzed', 'user', 'assistant', 'Hi', BASE, 'default/p/fuzzed', 'latest', '1', 'b'];

/** Without lone surrogates, which a URL cannot have. */
const inUrl = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

function requestOf(random: Random): Sent {
  const { path, method, operation } = oneOf(OPERATIONS, random);
  const word = (): string => inUrl(oneOf([modelId, ...NAMES, ...ODD_TEXTS], random));
  const query = (operation.parameters ?? []).filter((each) => each.in === 'query' && random.next() < 0.4);
  const asked = query.map(({ name, schema }) => {
    const value = valueOf(schema, random);
    return `${name}=${inUrl(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))}`;
  });
  const url = `${path.replace(/\{[^}]+\}/g, word)}${asked.length > 0 ? `?${asked.join('&')}` : ''}`;
  const request = { method: method.toUpperCase() as Sent['method'], url };
  const content = operation.requestBody?.content['application/json'];
  if (!content) return request;
  const examples = [content.example, ...Object.values(content.examples ?? {}).map(({ value }) => value)].filter(
    (each) => each !== undefined,
  );
  const made =
    examples.length > 0 && random.next() < 0.4
      ? mutateJson(oneOf(examples, random), random, 3)
      : valueOf(content.schema, random);
  const body = random.next() < 0.5 ? made : mutateJson(made, random, 3);
  const text = JSON.stringify(withRealNames(body)) ?? '';
  return { ...request, type: 'application/json', payload: random.next() < 0.05 ? mutateText(text, random) : text };
}

/** So that a request gets beyond its first look-up, and generates little. */
function withRealNames(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const real: Record<string, unknown> = { ...body };
  if (typeof real['model'] === 'string') real['model'] = BASE;
  if (typeof real['model_id'] === 'string') real['model_id'] = modelId;
  for (const limit of ['max_tokens', 'max_output_tokens', 'max_completion_tokens']) if (limit in real) real[limit] = 2;
  return real;
}

test('JSON requests', { timeout: FUZZ_TIMEOUT_MS }, async () => {
  expect(OPERATIONS.length).toBeGreaterThan(60);
  expect(await fuzz({ name: 'JSON', make: requestOf, run: sent, show: showRequest })).toBeGreaterThan(0);
});

// GraphQL

const schema = buildSchema(
  ['schema', 'artifact']
    .map((name) => readFileSync(new URL(`../../../src/api/wandb/${name}.graphql`, import.meta.url), 'utf8'))
    .join('\n'),
);

function literalOf(type: GraphQLInputType, random: Random, depth = 0): string {
  if (isNonNullType(type)) return literalOf(type.ofType, random, depth);
  if (random.next() < 0.1)
    return oneOf(['null', '-1', '"x"', '[]', '{}', '1e400', '99999999999', 'ENUM', '$none'], random);
  if (isListType(type))
    return `[${Array.from({ length: random.integer(3) }, () => literalOf(type.ofType, random, depth + 1)).join(', ')}]`;
  if (isEnumType(type)) return oneOf(type.getValues(), random).name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter((field) => isNonNullType(field.type) || random.next() < 0.4);
    return depth > 4
      ? '{}'
      : `{${fields.map((field) => `${field.name}: ${literalOf(field.type, random, depth + 1)}`).join(', ')}}`;
  }
  const { name } = getNamedType(type);
  if (name === 'Int') return String(oneOf([0, 1, 2, 50, -1, 2 ** 31 - 1, 2 ** 31], random));
  if (name === 'Float') return String(oneOf([0, 1.5, -1e30], random));
  if (name === 'Boolean') return String(random.next() < 0.5);
  return JSON.stringify(oneOf([...GRAPHQL_TEXTS, ...ODD_TEXTS], random).slice(0, 200));
}
const GRAPHQL_TEXTS = [
  'p',
  'default',
  'r',
  'n:v0',
  'n',
  'dataset',
  '{}',
  '{"a":1}',
  '[1]',
  'e30=',
  'default/p/n:latest',
];

function selectionOf(type: GraphQLOutputType, random: Random, depth: number): string {
  const named = getNamedType(type);
  if (!isCompositeType(named)) return '';
  const possible = isAbstractType(named) ? schema.getPossibleTypes(named) : [named];
  const on = oneOf(possible, random);
  const fields = Object.values(on.getFields());
  const chosen = Array.from({ length: 1 + random.integer(3) }, () => oneOf(fields, random))
    .filter((field) => depth < 8 || !isCompositeType(getNamedType(field.type)))
    .map((field, i) => {
      const given = field.args.filter((arg) => isNonNullType(arg.type) || random.next() < 0.5);
      const args = given.map((arg) => `${arg.name}: ${literalOf(arg.type, random)}`).join(', ');
      const alias = random.next() < 0.5 ? `a${i}: ` : '';
      return `${alias}${field.name}${args === '' ? '' : `(${args})`}${selectionOf(field.type, random, depth + 1)}`;
    });
  return ` { __typename ${isAbstractType(named) ? `... on ${on.name} { ${chosen.join(' ')} }` : chosen.join(' ')} }`;
}

function graphqlOf(random: Random): Sent {
  const isMutation = random.next() < 0.4;
  const root = (isMutation ? schema.getMutationType() : schema.getQueryType())!;
  const query = `${isMutation ? 'mutation' : 'query'}${selectionOf(root, random, 0)}`;
  const variables = random.next() < 0.1 ? oddValue(random) : {};
  const text = random.next() < 0.2 ? mutateText(query, random) : query;
  return {
    method: 'POST',
    url: '/graphql',
    type: 'application/json',
    payload: JSON.stringify({ query: text, variables }),
  };
}

test('GraphQL', { timeout: FUZZ_TIMEOUT_MS }, async () => {
  expect(await fuzz({ name: 'GraphQL', make: graphqlOf, run: sent, show: showRequest })).toBeGreaterThan(0);
});

// Protobuf

const LOSSES = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo', 'dro', '', 'x'];
const INPUTS = ['target_tokens', 'weights', 'logprobs', 'advantages', 'clip_low_threshold', '__proto__', 'x'];

function tensorOf(random: Random): Uint8Array {
  const count = random.integer(6);
  const floats = bytesOf(Float32Array.from({ length: count }, () => oneOf([0, 1, -1, NaN, Infinity, 1e38], random)));
  const integers = bytesOf(BigInt64Array.from({ length: count }, () => oneOf([0n, 1n, 487n, -1n, 1n << 40n], random)));
  const values = createMessage()
    .bytes(1 + random.integer(3), random.next() < 0.5 ? floats : integers)
    .done();
  const tensor = createMessage()
    .message(1 + random.integer(2), values)
    .integer(3, random.integer(4));
  if (random.next() < 0.6) tensor.integers(4, [count, ...ODD_SHAPES.slice(0, random.integer(3))]);
  if (random.next() < 0.3)
    tensor.integers(5, [0, 1, oneOf(ODD_SHAPES, random)]).integers(6, [0, oneOf(ODD_SHAPES, random)]);
  return tensor.done();
}
const ODD_SHAPES = [1, 0, 2 ** 31, 2 ** 53 - 1, 8_000_000];

function datumOf(random: Random): Uint8Array {
  const datum = createMessage();
  const tokens = bytesOf(
    Int32Array.from({ length: random.integer(8) }, () => oneOf([0, 1, 2, 487, 488, -1, 2 ** 31 - 1], random)),
  );
  const chunk = createMessage().bytes(1, tokens).done();
  datum.message(1, random.next() < 0.8 ? createMessage().message(1, chunk).done() : chunk);
  for (let i = 0; i < random.integer(4); i++)
    datum.message(2, createMessage().text(1, oneOf(INPUTS, random)).message(2, tensorOf(random)).done());
  return datum.done();
}

let seq = 100;
function protobufOf(random: Random): Uint8Array {
  const message = createMessage()
    .text(1, oneOf(['none', run], random))
    .integer(2, ++seq)
    .text(4, oneOf(LOSSES, random));
  for (let i = 0; i < random.integer(4); i++) message.message(3, datumOf(random));
  for (let i = 0; i < random.integer(3); i++)
    message.message(
      5 + 2 * random.integer(2),
      createMessage()
        .text(1, oneOf(['beta', 'clip_low_threshold', '__proto__'], random))
        .double(2, oneOf(ODD_NUMBERS, random))
        .done(),
    );
  return random.next() < 0.6 ? mutateBytes(message.done(), random) : message.done();
}
let run = 'none';

test('protobuf', { timeout: FUZZ_TIMEOUT_MS }, async () => {
  const post = async (path: string, body: object) => {
    const payload = JSON.stringify(body);
    const headers = { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'application/json' };
    return (await server.app.inject({ method: 'POST', url: `/tinker/api/v1/${path}`, headers, payload })).json<
      Record<string, string>
    >();
  };
  const { session_id: session } = await post('create_session', {});
  run = (await post('create_model', { session_id: session, model_seq_id: 0, base_model: BASE }))['model_id']!;
  const posted = async (bytes: Uint8Array, signal: AbortSignal) => {
    readWhole(bytes);
    const url = '/tinker/api/v1/forward_backward';
    await sent({ method: 'POST', url, type: 'application/x-protobuf', payload: Buffer.from(bytes) }, signal);
  };
  const show = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  expect(await fuzz({ name: 'protobuf', make: protobufOf, run: posted, show })).toBeGreaterThan(0);
});

/** As the operation reads it when it is executed. */
function readWhole(bytes: Uint8Array): void {
  try {
    const { data, budget } = readForwardBackwardHead(bytes);
    for (const [index, datum] of data.entries()) readDatum(datum, index, INPUTS, budget);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.code).toBe('invalid_request');
  }
}
