// The error responses in the OpenAPI document, each once: the meaning of each status, and the format and example, which depend on the
// API of the route.
import type { Dialect } from '../http/endpoint.ts';
import { FAILURE_EXAMPLES } from './answer-examples.ts';

type Json = Readonly<Record<string, unknown>>;

/** Status → its name under `components/responses`, and what it means. */
const STATUSES: Readonly<Record<number, readonly [name: string, meaning: string]>> = {
  400: ['BadRequest', 'The request cannot be processed'],
  401: ['Unauthorized', 'The API key is missing or invalid'],
  403: ['Forbidden', 'Not allowed for this key, or from this address'],
  404: ['NotFound', 'Does not exist, or belongs to another entity'],
  408: ['RequestTimeout', 'The body was sent too slowly'],
  409: ['Conflict', 'Conflicts with the current state'],
  410: ['Gone', 'It existed, and exists no longer'],
  413: ['BodyTooLarge', 'Body too large'],
  415: ['UnsupportedEncoding', 'The content encoding of the body is not supported'],
  416: ['RangeNotSatisfiable', 'The Range header asks for bytes beyond the end of the file'],
  421: ['WrongHost', 'The Host header names another server; see --allowed-host'],
  422: ['Invalid', 'The request is invalid; `detail` lists all errors'],
  426: ['UpgradeRequired', 'Needs a WebSocket: the request must ask for an upgrade'],
  429: ['TooManyRequests', 'Too many requests'],
  500: ['InternalError', 'Internal error'],
  503: ['Unavailable', 'Not ready or overloaded'],
};

/** Of generated answers. */
export const ANSWERING_MODEL = {
  'x-whetstone-model': {
    description:
      'The model that answers, a registered one with its step: `entity/project/name:step3`. Characters beyond ASCII are percent-encoded.',
    schema: { type: 'string' },
  },
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

/** Under `components/responses`. Tinker and W&B have the errors of OpenAI's API. Throws for a status without a meaning. */
export function failureName(status: number, dialect: Dialect | undefined): string {
  const [name] = STATUSES[status]!;
  return dialect === 'anthropic' ? `Anthropic${name}` : name;
}

function describeFailure(status: number, dialect: Dialect | undefined): Json {
  const schema = dialect === 'anthropic' ? 'AnthropicError' : status === 422 ? 'ValidationError' : 'Error';
  const retryAfter = status === 429 || status === 503 ? { 'retry-after': { schema: { type: 'integer' } } } : {};
  const example = FAILURE_EXAMPLES[failureName(status, dialect)];
  return {
    description: STATUSES[status]![1],
    headers: { ...REQUEST_ID, ...retryAfter },
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${schema}` },
        ...(example === undefined ? {} : { example }),
      },
    },
  };
}

export const FAILURES: Json = Object.fromEntries(
  ([undefined, 'anthropic'] as const).flatMap((dialect) =>
    Object.keys(STATUSES)
      .map(Number)
      .map((status) => [failureName(status, dialect), describeFailure(status, dialect)]),
  ),
);
