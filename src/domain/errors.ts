// The one error that crosses layers on purpose. `message` is written for the client: what, where, what to do; of
// `bad_model_files` for the operator, whose files it names. `cause` is for the log only. HTTP statuses live in api/error-response.ts; nothing here knows of HTTP.

export type ErrorCode =
  | 'invalid_constraint' // a grammar or schema that does not compile
  | 'invalid_request' // semantic failure that validation could not see
  | 'invalid_api_key'
  | 'missing_scope'
  | 'link_refused' // a signed link that is changed, expired, or of a revoked key
  | 'beyond_own_limits' // a key with limits that would make another
  | 'host_not_allowed' // called by a name that is not the server's
  | 'address_not_allowed' // called from an address that may not
  | 'model_not_found'
  | 'base_model_not_found'
  | 'job_not_found'
  | 'checkpoint_not_found'
  | 'artifact_not_found'
  | 'artifact_conflict' // a version that would change, or a model's name
  | 'checksum_mismatch'
  | 'upload_conflict' // a piece that does not continue what has arrived
  | 'not_found'
  | 'model_conflict'
  | 'job_finished'
  | 'idempotency_mismatch'
  | 'idempotency_in_progress'
  | 'body_too_large'
  | 'range_not_satisfiable' // a part of a file that begins behind its end
  | 'upgrade_required' // a WebSocket that was asked for as a page
  | 'request_timeout' // a body that comes too slowly
  | 'unsupported_encoding'
  | 'context_length_exceeded'
  | 'invalid_training_data'
  | 'row_too_long' // training data that does not fit into memory
  | 'too_many_requests'
  | 'engine_unavailable'
  | 'engine_failed'
  | 'other_role' // this server does not do that, another one does
  | 'server_stopping'
  | 'storage_unavailable' // the database, disk or blob store cannot work; trying again may
  | 'damaged_data' // other bytes come back than were stored
  | 'bad_model_files' // a model directory, adapter or checkpoint that cannot be loaded
  | 'dead_end' // constraint, allowed tokens, bad words and biases leave no token to go on with
  | 'cancelled'
  | 'internal';

export interface AppErrorOptions {
  cause?: unknown;
  /** The request field at fault, in OpenAI's `param`. */
  param?: string;
  /** For 429 and 503: when to try again. */
  retryAfterSeconds?: number;
}

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly param: string | null;
  readonly retryAfterSeconds: number | null;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.param = options.param ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/** A command line or a setting that breaks its rule: nothing was begun. Commands end with another exit code than for work that failed. */
export class UsageError extends AppError {
  constructor(message: string) {
    super('invalid_request', message);
    this.name = 'UsageError';
  }
}

/**
 * What clients and job events may say of it. Files of the server are the operator's business, and what is no AppError was
 * written for nobody: both become a sentence that names nothing. The error itself belongs into the log.
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
