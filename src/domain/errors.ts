// The one error that crosses layers on purpose. `message` is written for the client: what, where, what to do.
// `cause` is for the log only. HTTP statuses live in api/error-response.ts; nothing here knows of HTTP.

export type ErrorCode =
  | 'invalid_constraint' // a grammar or schema that does not compile
  | 'invalid_request' // semantic failure that validation could not see
  | 'invalid_api_key'
  | 'missing_scope'
  | 'model_not_found'
  | 'base_model_not_found'
  | 'job_not_found'
  | 'checkpoint_not_found'
  | 'artifact_not_found'
  | 'artifact_conflict' // a version that would change, or a model's name
  | 'checksum_mismatch'
  | 'not_found'
  | 'model_conflict'
  | 'job_finished'
  | 'idempotency_mismatch'
  | 'idempotency_in_progress'
  | 'body_too_large'
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
