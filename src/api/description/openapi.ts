// Creates the OpenAPI 3.1 document from the endpoints and zod schemas that serve requests, with examples and descriptions for every field.
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { ANSWER_EXAMPLES } from './answer-examples.ts';
import { createComponents, shareParameters, SUBSCHEMAS, type Components, type SharedParameters } from './components.ts';
import { isStrict } from '../http/query.ts';
import { FAILURE_SCHEMAS, FAILURES, failureName, ANSWERING_MODEL, REQUEST_ID } from './described-failures.ts';
import type { Endpoint, Tag } from '../http/endpoint.ts';
import { BODY_EXAMPLES, FILE_EXAMPLE, PARAMETER_EXAMPLES } from './examples.ts';
import { wordsFor } from './field-words.ts';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: Tag; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Json;
}

type Json = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly Json[];
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
}

export interface Reference {
  readonly $ref: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: true;
  readonly description?: string;
  readonly examples?: { readonly usual: { readonly value: unknown; readonly 'x-disabled'?: true } };
  readonly schema: unknown;
}

export function describeApi(endpoints: readonly Endpoint[], version: string, basePath: string): OpenApiDocument {
  const paths: Record<string, Record<string, Operation>> = {};
  const components = createComponents(FAILURE_SCHEMAS);
  const given = endpoints.map(parametersOf);
  const parameters = shareParameters(endpoints.map(({ tag }, i) => [tag, given[i]!]));
  for (const [i, each] of endpoints.entries())
    (paths[openApiPath(each.path)] ??= {})[each.method.toLowerCase()] = operation(
      each,
      given[i]!,
      parameters,
      components,
    );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Whetstone',
      version,
      description: `Chat completions, RL, SFT and DPO training of LoRA adapters, a checkpoint per job, and a store for training data. Every path also works with a trailing slash. A method that a path does not support returns 405; the \`Allow\` header lists the supported methods.`,
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name: name as Tag, description })),
    paths,
    components: {
      parameters: parameters.shared,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'The key printed by the first `whetstone serve`, or by `whetstone keys create`.',
        },
        anthropicKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'The same key in the header that Anthropic’s clients send.',
        },
      },
      schemas: components.schemas,
      responses: failuresIn(paths),
    },
  };
}

function operation(
  endpoint: Endpoint,
  given: readonly Parameter[],
  parameters: SharedParameters<Parameter>,
  components: Components,
): Operation {
  const { method, path, tag, access, bodySchema, creates, dialect, errors = [] } = endpoint;
  const keyNames = dialect === 'anthropic' ? ['apiKey', 'anthropicKey'] : ['apiKey'];
  const failures = [
    ...(access === 'public' ? [] : access === 'any key' ? [401, 429] : [401, 403, 429]),
    ...errors,
    ...(given.some(({ name }) => name === 'after') ? [400] : []), // `after` names an item that does not exist
    ...(path.includes('{') ? [400] : []), // a path parameter that cannot be decoded or is too long
    ...(creates ? [400, 409, 422] : []), // an Idempotency-Key that is too long, in use by a running request, or used with another body
    ...(bodySchema || endpoint.querySchema || isStrict(endpoint) ? [dialect === 'anthropic' ? 400 : 422] : []),
    ...(bodySchema || endpoint.bodySize === 'file' ? [408, 413, 415] : []),
    421,
    500,
  ];
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+(\w?)/g, (_, next: string) => next.toUpperCase())}`,
    tags: [tag],
    summary: titleOf(endpoint),
    description: descriptionOf(endpoint),
    security: access === 'public' ? [] : keyNames.map((name) => ({ [name]: access === 'any key' ? [] : [access] })),
    parameters: given.map((one) => parameters.refer(one)),
    ...requestBody(endpoint, components),
    responses: {
      ...successes(endpoint, components),
      ...Object.fromEntries(
        [...new Set(failures)]
          .sort()
          .map((status) => [String(status), { $ref: `#/components/responses/${failureName(status, dialect)}` }]),
      ),
    },
  };
}

/** Those that some operation refers to. */
function failuresIn(paths: OpenApiDocument['paths']): Json {
  const used = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ responses }) => Object.values(responses)),
  );
  const names = new Set(used.map((response) => String(response['$ref']).split('/').at(-1)));
  return Object.fromEntries(Object.entries(FAILURES).filter(([name]) => names.has(name)));
}

/** The first sentence, without backticks: the reference shows it as a heading, where code is not formatted. */
const titleOf = ({ summary }: Endpoint): string => summary.split(SENTENCE_END)[0]!.replaceAll('`', '');
const SENTENCE_END = /\. (?=[A-Z`])/;

/** The rest of the summary, followed by what follows from the endpoint's settings: the required scope, and other ways to request it. */
function descriptionOf({
  summary,
  access,
  role,
  creates,
  alsoStreams,
  bodySize,
  bodyType,
  dialect,
  tag,
}: Endpoint): string {
  const who = { public: 'Needs no key.', 'any key': 'Needs a key with any scope.' };
  const more = summary
    .split(SENTENCE_END)
    .slice(1)
    .map((sentence) => `${sentence}.`);
  const sentences = [
    ...more,
    access === 'public' || access === 'any key' ? who[access] : `Needs a key with the scope \`${access}\`.`,
    role === 'every' && 'Available on every server, regardless of its roles.',
    creates && 'Requests with the same `Idempotency-Key` are executed only once.',
    alsoStreams && 'The answer can be streamed as server-sent events.',
    bodySize === 'file' && bodyType === undefined && 'The request body is the content of the file.',
    bodySize === 'large' && 'The request body may be large.',
    dialect === 'anthropic' && 'Errors have the format of Anthropic’s API.',
    ...(tag === 'Tinker' || tag === 'W&B' ? [TAGS[tag]] : []),
  ];
  return sentences.filter(Boolean).join(' ');
}

function requestBody(endpoint: Endpoint, components: Components): Pick<Operation, 'requestBody'> {
  const { method, path, tag, bodySchema, bodySize, bodyType = 'application/octet-stream' } = endpoint;
  const example = BODY_EXAMPLES[`${method} ${openApiPath(path)}`];
  if (bodySize === 'file') {
    const schema = { type: 'string', format: 'binary' };
    return { requestBody: { required: true, content: { [bodyType]: { schema, example: example ?? FILE_EXAMPLE } } } };
  }
  if (!bodySchema) return {};
  const schema = components.refer(jsonSchema(bodySchema, 'input', tag));
  const content = { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
  return { requestBody: { required: true, content } };
}

function successes(endpoint: Endpoint, components: Components): Readonly<Record<string, Json>> {
  const { acceptSocket, answer, generates, alsoSucceeds = [] } = endpoint;
  if (acceptSocket) return { 101: { description: 'The connection switches to the WebSocket protocol' } };
  if (answer === null) return { 204: { description: 'Success; no body', headers: REQUEST_ID } };
  const headers = generates ? { ...REQUEST_ID, ...ANSWERING_MODEL } : REQUEST_ID;
  const success = { description: 'Success', headers, content: answerContent(endpoint, components) };
  return Object.fromEntries([200, ...alsoSucceeds].map((status) => [status, success]));
}

function answerContent(endpoint: Endpoint, components: Components): Json {
  const { answer, tag, alsoStreams, alsoAnswers = [] } = endpoint;
  const otherForms = [...(alsoStreams ? ['text/event-stream'] : []), ...alsoAnswers];
  const schemas: [type: string, content: Json][] = Array.isArray(answer)
    ? (answer as readonly string[]).map((type) => [type, {}])
    : [['application/json', { schema: components.refer(jsonSchema(answer as z.ZodType, 'output', tag)) }]];
  const others = otherForms.map((type): [string, Json] => [type, { schema: { type: 'string' } }]);
  return Object.fromEntries(
    [...schemas, ...others].map(([type, content]) => [type, { ...content, ...answerExample(endpoint, type) }]),
  );
}

/** `of`: a content type of a success. */
function answerExample({ method, path }: Endpoint, of: string): { readonly example?: unknown } {
  const example = ANSWER_EXAMPLES[`${method} ${openApiPath(path)}`]?.[of];
  return example === undefined ? {} : { example };
}

function parametersOf({ path, querySchema, creates, generates, requiredHeaders = [], tag }: Endpoint): Parameter[] {
  const inPath = [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]): Parameter => ({
    name: name!,
    in: 'path',
    required: true,
    ...wordsOf(name!, tag),
    ...exampleOf(name!, tag, true),
    schema: { type: 'string' },
  }));
  const query = querySchema
    ? (jsonSchema(querySchema, 'input', tag) as {
        properties?: Record<string, { description?: string }>;
        required?: string[];
      })
    : {};
  const inQuery = Object.entries(query.properties ?? {}).map(([name, { description, ...schema }]): Parameter => {
    const required = query.required?.includes(name) ?? false;
    return {
      name,
      in: 'query',
      ...(required ? { required } : {}),
      ...wordsOf(name, tag),
      ...exampleOf(name, tag, required),
      ...(description ? { description } : {}),
      schema,
    };
  });
  const header = (name: string, required: boolean, schema: Json): Parameter => ({
    name,
    in: 'header',
    ...(required ? { required } : {}),
    ...wordsOf(name, tag),
    ...exampleOf(name, tag, required),
    schema,
  });
  const inHeader = [
    ...(creates ? [header('Idempotency-Key', false, { type: 'string', maxLength: 255 })] : []),
    ...(generates === 'answers' ? EPISODE_HEADERS.map(([name, schema]) => header(name, false, schema)) : []),
    ...requiredHeaders.map((name) => header(name, true, { type: 'string' })),
  ];
  return [...inPath, ...inQuery, ...inHeader];
}

const EPISODE_HEADERS: readonly (readonly [name: string, schema: Json])[] = [
  ['X-Whetstone-Episode', { type: 'string', maxLength: 128 }],
  ['X-Whetstone-Group', { type: 'string', maxLength: 128 }],
  ['X-Whetstone-Train', { type: 'string', enum: ['true', 'false'], default: 'true' }],
];

function wordsOf(name: string, tag: Tag): Pick<Parameter, 'description'> {
  const description = wordsFor(name, null, tag);
  return description === undefined ? {} : { description };
}

/** Optional parameters are disabled in the request form until the reader enables them: Scalar reads `x-disabled`. */
function exampleOf(name: string, tag: Tag, required: boolean): Pick<Parameter, 'examples'> {
  const value = PARAMETER_EXAMPLES[`${tag}/${name}`] ?? PARAMETER_EXAMPLES[name];
  if (value === undefined) return {};
  return { examples: { usual: { value, ...(required ? {} : { 'x-disabled': true }) } } };
}

const openApiPath = (path: string): string => path.replace(/\*\}/g, '}');

function jsonSchema(schema: z.ZodType, io: 'input' | 'output', tag: Tag): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' });
  return withWords(withoutNoise(rest), null, tag) as Json;
}

/**
 * What zod writes that says nothing to a client: the bounds of JavaScript's integers, the expression behind a format, that keys are
 * strings, and a choice between one type and null, which JSON Schema writes as two types.
 */
function withoutNoise(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutNoise);
  if (!isObject(schema)) return schema;
  const node = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withoutNoise(value)]));
  if (node['maximum'] === Number.MAX_SAFE_INTEGER) delete node['maximum'];
  if (node['minimum'] === Number.MIN_SAFE_INTEGER) delete node['minimum'];
  if (typeof node['format'] === 'string') delete node['pattern'];
  if (isDeepStrictEqual(node['propertyNames'], { type: 'string' })) delete node['propertyNames'];
  const [one, none, ...more] = Array.isArray(node['anyOf']) ? (node['anyOf'] as unknown[]) : [];
  const isNullable = more.length === 0 && isDeepStrictEqual(none, { type: 'null' });
  if (!isNullable || !isObject(one) || typeof one['type'] !== 'string') return node;
  if (['enum', 'const', 'title', 'description', 'default'].some((key) => key in one)) return node;
  const { anyOf: _, ...rest } = node;
  return { ...rest, ...one, type: [one['type'], 'null'] };
}

interface SchemaNode extends Json {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
}

/** Adds a description to every field that has none. `parent`: the field that contains this schema, directly or as an item. */
function withWords(schema: unknown, parent: string | null, tag: Tag): unknown {
  if (Array.isArray(schema)) return schema.map((part: unknown) => withWords(part, parent, tag));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { properties, ...others } = schema as SchemaNode;
  const inside = SUBSCHEMAS.filter((key) => key in others).map(
    (key) => [key, withWords(others[key], parent, tag)] as const,
  );
  const fields = Object.entries(properties ?? {}).map(([name, field]): [string, SchemaNode] => {
    const words = field['description'] === undefined && !('$ref' in field) ? wordsFor(name, parent, tag) : undefined;
    const whole = withWords(field, name, tag) as SchemaNode;
    return [name, words === undefined ? whole : { description: words, ...whole }];
  });
  return {
    ...others,
    ...Object.fromEntries(inside),
    ...(properties === undefined ? {} : { properties: Object.fromEntries(fields) }),
  };
}

const TAGS: Readonly<Record<Tag, string>> = {
  Chat: 'Generate text, compatible with OpenAI’s and Anthropic’s APIs; embeddings and tokenization.',
  Models: 'Trainable models, each a sequence of checkpoints of one base model; and the base models of this server.',
  Checkpoints: 'Results of training jobs: adapters that can be used immediately, with their metrics.',
  'Training jobs':
    'Train a model with reinforcement learning, examples or preference pairs; follow jobs and inspect what they trained on.',
  Artifacts: 'Versioned files, such as training data.',
  Episodes: 'Runs of an agent, recorded call by call as the server answers them. A reward makes them training data.',
  Runs: 'Runs that scripts logged with the `wandb` library.',
  Keys: 'API keys with their scopes and limits, and usage.',
  Webhooks: 'Notifications to a URL when jobs end.',
  Workers: 'Workers: engines on other machines.',
  Tinker: 'The protocol of the Tinker SDK; docs/tinker.md lists what is supported.',
  'W&B': 'The protocol of the `wandb` library; docs/wandb.md lists what is supported.',
  Server: 'Version, health, metrics and description of the server.',
};
