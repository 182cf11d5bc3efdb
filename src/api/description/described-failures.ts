// The error responses in the OpenAPI document: the meaning of each status, and the format, which depends on the API of the route.
import type { Endpoint } from '../http/endpoint.ts';

type Json = Readonly<Record<string, unknown>>;

export function describeFailure(
  status: number,
  dialect: Endpoint['dialect'],
  example: { readonly example?: unknown },
): Json {
  const name = dialect === 'anthropic' ? 'AnthropicError' : status === 422 ? 'ValidationError' : 'Error';
  const schema = { $ref: `#/components/schemas/${name}` };
  const retryAfter = status === 429 || status === 503 ? { 'retry-after': { schema: { type: 'integer' } } } : {};
  return {
    description: FAILURES[status] ?? 'Failure',
    headers: { ...REQUEST_ID, ...retryAfter },
    content: { 'application/json': { schema, ...example } },
  };
}

const FAILURES: Readonly<Record<number, string>> = {
  400: 'The request cannot be processed',
  401: 'The API key is missing or invalid',
  403: 'Not allowed for this key, or from this address',
  404: 'Does not exist, or belongs to another entity',
  408: 'The body was sent too slowly',
  409: 'Conflicts with the current state',
  413: 'Body too large',
  415: 'The content encoding of the body is not supported',
  416: 'The Range header asks for bytes beyond the end of the file',
  421: 'The Host header names another server; see --allowed-host',
  422: 'The request is invalid; `detail` lists all errors',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Not ready or overloaded',
};

export const REQUEST_ID = { 'x-request-id': { schema: { type: 'string' } } };

const errorObject = {
  type: 'object',
  description: 'The error in the format of OpenAI’s API.',
  properties: {
    message: { type: 'string', description: 'Human-readable explanation: what went wrong and what to do.' },
    type: { type: 'string', description: 'The class of the error, such as `invalid_request_error`.' },
    param: { type: ['string', 'null'], description: 'The field that caused the error; null if no single field did.' },
    code: { type: ['string', 'null'], description: 'Machine-readable error code; null if `type` is specific enough.' },
  },
  required: ['message', 'type', 'param', 'code'],
};

const detail = { type: 'string', description: 'The same text as `error.message`.' };

const fault = {
  type: 'object',
  properties: {
    loc: {
      type: 'array',
      items: { type: ['string', 'integer'] },
      description:
        'Location of the error: `body`, `query` or `path`, followed by the field names and indexes that lead to the field.',
    },
    msg: { type: 'string', description: 'Human-readable explanation of what is wrong with the value.' },
    type: { type: 'string', description: 'The error type, as pydantic names it.' },
    input: { description: 'The value that was sent.' },
    ctx: { type: 'object', description: 'The values that `msg` was formatted with.' },
  },
  required: ['loc', 'msg', 'type'],
};

const ERROR = {
  type: 'object',
  properties: { detail, error: errorObject },
  required: ['detail', 'error'],
};

const VALIDATION_ERROR = {
  type: 'object',
  properties: {
    detail: {
      anyOf: [{ type: 'string' }, { type: 'array', items: fault }],
      description:
        'All validation errors of the request with their locations; or one sentence, if the error has no location.',
    },
    error: errorObject,
  },
  required: ['detail', 'error'],
};

const ANTHROPIC_ERROR = {
  type: 'object',
  properties: {
    type: { const: 'error', description: 'Marks the object as an error.' },
    error: { ...errorObject, description: 'The error in the format of Anthropic’s API.' },
    request_id: { type: 'string', description: 'Id of the request; the server’s log has it too.' },
  },
  required: ['type', 'error', 'request_id'],
};

export const FAILURE_SCHEMAS: Json = {
  Error: ERROR,
  ValidationError: VALIDATION_ERROR,
  AnthropicError: ANTHROPIC_ERROR,
};
