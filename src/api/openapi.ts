// OpenAPI 3.1 from the same endpoints and zod schemas that serve requests.
import { z } from 'zod';
import type { Endpoint } from './endpoint.ts';

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Json;
}

type Json = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Json[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Json;
  readonly responses: Readonly<Record<string, Json>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: unknown;
}

export function describeApi(endpoints: readonly Endpoint[], version: string, basePath: string): OpenApiDocument {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const each of endpoints) (paths[openApiPath(each.path)] ??= {})[each.method.toLowerCase()] = operation(each);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Whetstone',
      version,
      description: `Chat completions, RL and SFT training of LoRA adapters, a checkpoint per job, and a store for training data. Every path also works with a trailing slash. A method that a path does not have is a 405, with those that it has in \`Allow\`.`,
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer' },
        anthropicKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
      schemas: { Error: ERROR, ValidationError: VALIDATION_ERROR, AnthropicError: ANTHROPIC_ERROR },
    },
  };
}

function operation(endpoint: Endpoint): Operation {
  const {
    method,
    path,
    tag,
    summary,
    access,
    bodySchema,
    alsoStreams,
    alsoAnswers = [],
    creates,
    dialect,
    errors = [],
  } = endpoint;
  const given = parameters(endpoint);
  const keyNames = dialect === 'anthropic' ? ['apiKey', 'anthropicKey'] : ['apiKey'];
  const failures = [
    ...(access === 'public' ? [] : access === 'any key' ? [401, 429] : [401, 403, 429]),
    ...errors,
    ...(given.some(({ name }) => name === 'after') ? [400] : []), // of an item that is not there
    ...(path.includes('{') ? [400] : []), // a part of the path that cannot be decoded, or is too long
    ...(creates ? [400, 409, 422] : []), // an Idempotency-Key that is too long, still running, or used with another body
    ...(bodySchema || endpoint.querySchema ? [dialect === 'anthropic' ? 400 : 422] : []),
    ...(bodySchema || endpoint.bodySize === 'file' ? [408, 413, 415] : []),
    421,
    500,
  ];
  return {
    operationId: `${method.toLowerCase()}${path.replace(/[^A-Za-z0-9]+(\w?)/g, (_, next: string) => next.toUpperCase())}`,
    tags: [tag],
    summary,
    security: access === 'public' ? [] : keyNames.map((name) => ({ [name]: access === 'any key' ? [] : [access] })),
    parameters: given,
    ...requestBody(endpoint),
    responses: {
      '200': {
        description: 'Success',
        headers: REQUEST_ID,
        content: answerContent(endpoint.answer, alsoStreams ? ['text/event-stream', ...alsoAnswers] : alsoAnswers),
      },
      ...Object.fromEntries([...new Set(failures)].sort().map((status) => [String(status), failure(status, dialect)])),
    },
  };
}

function requestBody({ bodySchema, bodySize }: Endpoint): Pick<Operation, 'requestBody'> {
  if (bodySize === 'file') {
    const content = { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } };
    return { requestBody: { required: true, content } };
  }
  if (!bodySchema) return {};
  return {
    requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(bodySchema, 'input') } } },
  };
}

function answerContent(answer: Endpoint['answer'], otherForms: readonly string[]): Json {
  const whole = Array.isArray(answer)
    ? Object.fromEntries((answer as readonly string[]).map((type) => [type, {}]))
    : { 'application/json': { schema: jsonSchema(answer as z.ZodType, 'output') } };
  return { ...whole, ...Object.fromEntries(otherForms.map((type) => [type, { schema: { type: 'string' } }])) };
}

function parameters({ path, querySchema, creates }: Endpoint): Parameter[] {
  const inPath = [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]): Parameter => ({
    name: name!,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const query = querySchema
    ? (jsonSchema(querySchema, 'input') as {
        properties?: Record<string, { description?: string }>;
        required?: string[];
      })
    : {};
  const inQuery = Object.entries(query.properties ?? {}).map(([name, { description, ...schema }]): Parameter => ({
    name,
    in: 'query',
    required: query.required?.includes(name) ?? false,
    ...(description ? { description } : {}),
    schema,
  }));
  const inHeader: Parameter[] = creates
    ? [
        {
          name: 'Idempotency-Key',
          in: 'header',
          required: false,
          description: 'The same key and body give the same answer for 24 h.',
          schema: { type: 'string', maxLength: 255 },
        },
      ]
    : [];
  return [...inPath, ...inQuery, ...inHeader];
}

function failure(status: number, dialect: Endpoint['dialect']): Json {
  const name = dialect === 'anthropic' ? 'AnthropicError' : status === 422 ? 'ValidationError' : 'Error';
  const schema = { $ref: `#/components/schemas/${name}` };
  const retryAfter = status === 429 || status === 503 ? { 'retry-after': { schema: { type: 'integer' } } } : {};
  return {
    description: FAILURES[status] ?? 'Failure',
    headers: { ...REQUEST_ID, ...retryAfter },
    content: { 'application/json': { schema } },
  };
}

const FAILURES: Readonly<Record<number, string>> = {
  400: 'The request cannot be carried out as it is',
  401: 'No API key, or not a valid one',
  403: 'Not allowed to this key, or from this address',
  404: 'Unknown, or not yours',
  408: 'The body came too slowly',
  409: 'In conflict with what exists',
  413: 'Body too large',
  415: 'The body is compressed, or otherwise encoded, in a way that is not read here',
  421: 'The Host header names another server; see --allowed-host',
  422: 'The request is not valid; `detail` lists every fault',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Not ready or overloaded',
};

const REQUEST_ID = { 'x-request-id': { schema: { type: 'string' } } };

const errorObject = {
  type: 'object',
  properties: {
    message: { type: 'string' },
    type: { type: 'string' },
    param: { type: ['string', 'null'] },
    code: { type: ['string', 'null'] },
  },
  required: ['message', 'type', 'param', 'code'],
};

const ERROR = {
  type: 'object',
  properties: { detail: { type: 'string' }, error: errorObject },
  required: ['detail', 'error'],
};

const VALIDATION_ERROR = {
  type: 'object',
  properties: {
    detail: {
      anyOf: [
        { type: 'string' },
        {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              loc: { type: 'array', items: { type: ['string', 'integer'] } },
              msg: { type: 'string' },
              type: { type: 'string' },
              input: {},
              ctx: { type: 'object' },
            },
            required: ['loc', 'msg', 'type'],
          },
        },
      ],
    },
    error: errorObject,
  },
  required: ['detail', 'error'],
};

const ANTHROPIC_ERROR = {
  type: 'object',
  properties: { type: { const: 'error' }, error: errorObject, request_id: { type: 'string' } },
  required: ['type', 'error', 'request_id'],
};

const openApiPath = (path: string): string => path.replace(/\*\}/g, '}');

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' });
  return rest;
}
