// Errors as clients read them, in two formats at once: `detail` (FastAPI services) and `error` (OpenAI). The table below maps
// every ErrorCode to a status; a new code does not compile without one. Internals stay in the log.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { anthropicError } from './anthropic-error.ts';
import type { Dialect } from './endpoint.ts';
import { AppError, publicError, type ErrorCode } from '#domain/errors';
import { ValidationError, type ValidationItem } from '#validation/parse';

const STATUS = {
  invalid_constraint: 422,
  invalid_request: 400,
  invalid_api_key: 401,
  missing_scope: 403,
  link_refused: 403,
  beyond_own_limits: 403,
  host_not_allowed: 421,
  address_not_allowed: 403,
  model_not_found: 404,
  base_model_not_found: 404,
  job_not_found: 404,
  checkpoint_not_found: 404,
  artifact_not_found: 404,
  artifact_conflict: 409,
  checksum_mismatch: 422,
  upgrade_required: 426,
  upload_conflict: 409,
  not_found: 404,
  model_conflict: 409,
  job_finished: 409,
  episode_not_found: 404,
  episode_conflict: 409,
  idempotency_mismatch: 422,
  idempotency_in_progress: 409,
  body_too_large: 413,
  range_not_satisfiable: 416,
  request_timeout: 408,
  unsupported_encoding: 415,
  context_length_exceeded: 400,
  invalid_training_data: 400,
  row_too_long: 400,
  too_many_requests: 429,
  engine_unavailable: 503,
  engine_failed: 500,
  bad_model_files: 500,
  other_role: 503,
  server_stopping: 503,
  storage_unavailable: 503,
  damaged_data: 500,
  dead_end: 400,
  thread_unsupported_request: 400,
  cancelled: 499, // the client disconnected: only the log has it
  internal: 500,
} satisfies Record<ErrorCode, number>;

const DEFAULT_RETRY_AFTER_SECONDS = 1;

export interface ErrorBody {
  readonly detail: string | readonly ValidationItem[];
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorBody;
}

export function errorResponse(error: unknown): ErrorResponse {
  if (error instanceof ValidationError) return { status: 422, headers: {}, body: validationBody(error.items) };
  const known = error instanceof AppError ? publicError(error) : fromFastify(error);
  const status = STATUS[known.code];
  if (known.code === 'invalid_constraint') return { status, headers: {}, body: validationBody([itemOf(known)]) };
  const code = known.code === 'too_many_requests' ? 'rate_limit_exceeded' : known.code;
  const message = bounded(known.message);
  return {
    status,
    headers: headersOf(known, status),
    body: { detail: message, error: { message, type: typeOf(status), param: known.param, code } },
  };
}

const MESSAGE_CHARACTERS_MAX = 10_000;

/** Messages quote what was sent, which may be a name of millions of characters. */
const bounded = (message: string): string =>
  message.length <= MESSAGE_CHARACTERS_MAX ? message : `${message.slice(0, MESSAGE_CHARACTERS_MAX)} …`;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The API whose error format is used; absent: both of ours at once. */
    readonly dialect?: Dialect | undefined;
    readonly isAnthropicToo?: boolean | undefined;
  }
}

/** Where Anthropic's clients call, also if no endpoint has the path or the method. */
const OF_ANTHROPIC = /\/v1\/messages(?:\/|$)/;

export function dialectOf({ headers, routeOptions, url }: FastifyRequest): Dialect | undefined {
  if (routeOptions?.url === undefined) return OF_ANTHROPIC.test(url.split('?')[0]!) ? 'anthropic' : undefined;
  const { dialect, isAnthropicToo } = routeOptions?.config ?? {};
  return isAnthropicToo && headers['anthropic-version'] !== undefined ? 'anthropic' : dialect;
}

/** Headers that a reply set for content that is not sent. Streams have set them on the raw response too. */
const OF_CONTENT = ['content-type', 'content-length', 'content-disposition', 'etag'];

export function sendError(reply: FastifyReply, error: unknown): FastifyReply {
  const { id } = reply.request;
  const response = errorResponse(error);
  const { status, body } = inDialect(response, dialectOf(reply.request), id);
  for (const name of OF_CONTENT) {
    reply.removeHeader(name);
    if (!reply.raw.headersSent) reply.raw.removeHeader(name);
  }
  return reply.code(status).headers(response.headers).send(body);
}

export function inDialect(
  response: ErrorResponse,
  dialect: Dialect | undefined,
  id: string,
): { status: number; body: unknown } {
  if (dialect === 'anthropic') return anthropicError(response, id);
  const { status, body } = response;
  return dialect === 'wandb' ? { status, body: { ...body, errors: [{ message: body.error.message }] } } : response; // GraphQL's format as well
}

/** OpenAI's and Anthropic's clients repeat a 409 otherwise, for minutes if an agent has a patience of its own: an episode that has ended stays so. */
const NOT_AGAIN = { 'x-should-retry': 'false' };

function headersOf(error: AppError, status: number): Record<string, string> {
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  const retryAfter = error.retryAfterSeconds ?? (status === 429 || status === 503 ? DEFAULT_RETRY_AFTER_SECONDS : null);
  if (retryAfter !== null) return { 'retry-after': String(retryAfter) };
  return error.code === 'episode_conflict' ? NOT_AGAIN : {};
}

/** Errors of a body field that only the engine can detect. */
const itemOf = ({ message, param }: AppError): ValidationItem => ({
  type: 'value_error',
  loc: ['body', ...(param === null ? [] : [param])],
  msg: `Value error, ${message}`,
  input: null,
  ctx: { error: {} },
});

/** OpenAI's error types. */
function typeOf(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 404) return 'not_found_error';
  if (status === 429) return 'rate_limit_error';
  if (status === 503) return 'service_unavailable_error';
  return status >= 500 && status !== 501 ? 'server_error' : 'invalid_request_error';
}

const SHOWN_ITEMS = 5;

/**
 * JavaScript clients show only `error.message`, so it repeats `detail`, in one line. For broken JSON it adds the cause, which `detail`
 * has in `ctx`, because `msg` is then a fixed text.
 */
function validationBody(items: readonly ValidationItem[]): ErrorBody {
  const shown = items.slice(0, SHOWN_ITEMS).map(({ loc, msg, type, ctx }) => {
    const cause = type === 'json_invalid' ? `: ${String(ctx?.['error'])}` : '';
    return `${loc.join('.')}: ${msg}${cause} (${type})`;
  });
  const more = items.length > SHOWN_ITEMS ? `; and ${items.length - SHOWN_ITEMS} more` : '';
  const param = items[0]?.loc.at(-1);
  return {
    detail: items,
    error: {
      message: shown.join('; ') + more,
      type: 'invalid_request_error',
      param: param === undefined ? null : String(param),
      code: null,
    },
  };
}

/** Framework errors with messages of our own, by the framework's code. */
const REFUSED: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [
    'body_too_large',
    'The request body is over the limit of this endpoint. Send less at once.',
  ],
  FST_ERR_BAD_URL: ['invalid_request', 'The path cannot be decoded: its %-escapes are not UTF-8. Encode it again.'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid_request', 'A part of the path is longer than any id or name. Check the URL.'],
};

function fromFastify(error: unknown): AppError {
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  const refused = typeof code === 'string' ? REFUSED[code] : undefined;
  if (refused) return new AppError(...refused, { cause: error });
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 && error instanceof Error) {
    return new AppError('invalid_request', error.message, { cause: error });
  }
  return new AppError('internal', 'Internal error. The server log has the details under this x-request-id.', {
    cause: error,
  });
}
