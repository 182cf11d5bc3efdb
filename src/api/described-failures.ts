// How a request can fail, as OpenAPI has it: what each status means, and the form of the answer, which depends on whose API it is.
import type { Endpoint } from './endpoint.ts';

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
  400: 'The request cannot be carried out as it is',
  401: 'No API key, or not a valid one',
  403: 'Not allowed to this key, or from this address',
  404: 'Unknown, or not yours',
  408: 'The body came too slowly',
  409: 'In conflict with what exists',
  413: 'Body too large',
  415: 'The body is compressed, or otherwise encoded, in a way that is not read here',
  416: 'The Range header asks for bytes behind the end',
  421: 'The Host header names another server; see --allowed-host',
  422: 'The request is not valid; `detail` lists every fault',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Not ready or overloaded',
};

export const REQUEST_ID = { 'x-request-id': { schema: { type: 'string' } } };

const errorObject = {
  type: 'object',
  description: 'The error in the form of OpenAI’s API.',
  properties: {
    message: { type: 'string', description: 'What went wrong and what to do, for people.' },
    type: { type: 'string', description: 'The class of the error, such as `invalid_request_error`.' },
    param: { type: ['string', 'null'], description: 'The field that is at fault; null where no single field is.' },
    code: { type: ['string', 'null'], description: 'The kind of error, for programs; null where `type` says enough.' },
  },
  required: ['message', 'type', 'param', 'code'],
};

const detail = { type: 'string', description: 'The same words as `error.message`.' };

const fault = {
  type: 'object',
  properties: {
    loc: {
      type: 'array',
      items: { type: ['string', 'integer'] },
      description: 'Where the fault is: `body`, `query` or `path`, then the names and indexes that lead to the field.',
    },
    msg: { type: 'string', description: 'What is wrong with the value, for people.' },
    type: { type: 'string', description: 'The kind of fault, under the name that pydantic gives it.' },
    input: { description: 'The value that was sent.' },
    ctx: { type: 'object', description: 'Numbers and words that `msg` was made with.' },
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
      description: 'Every fault of the request with its place; or one sentence, where the fault has no place.',
    },
    error: errorObject,
  },
  required: ['detail', 'error'],
};

const ANTHROPIC_ERROR = {
  type: 'object',
  properties: {
    type: { const: 'error', description: 'Says that this is an error.' },
    error: { ...errorObject, description: 'The error, as Anthropic’s clients read it.' },
    request_id: { type: 'string', description: 'Id of the request, which the server’s log has too.' },
  },
  required: ['type', 'error', 'request_id'],
};

export const FAILURE_SCHEMAS: Json = {
  Error: ERROR,
  ValidationError: VALIDATION_ERROR,
  AnthropicError: ANTHROPIC_ERROR,
};
