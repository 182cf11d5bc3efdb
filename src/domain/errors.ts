// The one error that may cross layers. `message` is written for the client: what, where, what to do; for `bad_model_files` it is written
// for the operator. `cause` is only for the log. HTTP statuses live in api/http/error-response.ts; nothing here knows HTTP.

export type ErrorCode =
  | 'invalid_constraint' // a grammar or schema that does not compile
  | 'invalid_request' // a failure that schema validation cannot detect
  | 'invalid_api_key'
  | 'missing_scope'
  | 'link_refused' // a signed link that was changed, has expired, or belongs to a revoked key
  | 'beyond_own_limits' // a limited key tries to create a key with higher limits
  | 'host_not_allowed' // the Host header names another server
  | 'address_not_allowed' // the client's address is not allowed
  | 'model_not_found'
  | 'base_model_not_found'
  | 'job_not_found'
  | 'checkpoint_not_found'
  | 'artifact_not_found'
  | 'artifact_conflict' // the version would change, or the name belongs to a model
  | 'checksum_mismatch'
  | 'upload_conflict' // a piece that does not continue what has arrived
  | 'not_found'
  | 'model_conflict'
  | 'job_finished'
  | 'episode_not_found'
  | 'episode_conflict' // it has ended, was trained, or has expired; or its name is not clear
  | 'idempotency_mismatch'
  | 'idempotency_in_progress'
  | 'body_too_large'
  | 'range_not_satisfiable' // the requested range begins after the end of the file
  | 'upgrade_required' // a WebSocket address requested without an upgrade
  | 'request_timeout' // the body arrives too slowly
  | 'unsupported_encoding'
  | 'context_length_exceeded'
  | 'invalid_training_data'
  | 'row_too_long' // training data that does not fit into memory
  | 'too_many_requests'
  | 'engine_unavailable'
  | 'engine_failed'
  | 'other_role' // a server with another role answers this
  | 'server_stopping'
  | 'storage_unavailable' // the database, disk or blob store fails; retrying may help
  | 'damaged_data' // the stored bytes have changed
  | 'bad_model_files' // a model directory, adapter or checkpoint that cannot be loaded
  | 'dead_end' // constraint, allowed tokens, bad words and biases together allow no next token
  | 'thread_unsupported_request' // Anthropic's code for a conversation that its server is to keep
  | 'cancelled'
  | 'internal';

export interface AppErrorOptions {
  cause?: unknown;
  /** The request field at fault (`param` in OpenAI's errors). */
  param?: string;
  /** For 429 and 503: seconds until a retry makes sense. */
  retryAfterSeconds?: number;
}

/** Messages quote names and values of requests and files, which may be megabytes long. */
const MESSAGE_CHARACTERS_MAX = 4_000;

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    const said = message.length > MESSAGE_CHARACTERS_MAX ? `${message.slice(0, MESSAGE_CHARACTERS_MAX)}…` : message;
    super(said, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.param = options.param ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/** An invalid command line or setting: nothing was started. Commands exit with another code than for failed work. */
export class UsageError extends AppError {
  constructor(message: string) {
    super('invalid_request', message);
    this.name = 'UsageError';
  }
}

/**
 * The error as clients and job events may see it. Paths on the server concern only the operator, and messages of other errors were not
 * written for clients: both become a generic sentence. The original error belongs in the log.
 */
export function publicError(error: unknown): AppError {
  if (!(error instanceof AppError))
    return new AppError('internal', 'An internal error. The server log has the details.', { cause: error });
  if (error.code !== 'bad_model_files') return error;
  return new AppError(
    error.code,
    'The files of this model or checkpoint cannot be used. The server log has the details.',
    {
      cause: error,
    },
  );
}
