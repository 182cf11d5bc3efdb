// Turns failures of an S3 store into `storage_unavailable` with a plain cause.
import { S3ServiceException } from '@aws-sdk/client-s3';
import { AppError } from '#domain/errors';

const RETRY_AFTER_SECONDS = 5;
/** Wrong or insufficient keys, too many requests, and failures of the store itself. */
const mayPass = (status: number): boolean => [401, 403, 408, 429].includes(status) || status >= 500;
const LOST = /^(?:ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_STREAM_PREMATURE_CLOSE)/;

export const s3Unavailable = (cause: string, error?: unknown): AppError =>
  new AppError('storage_unavailable', `The blob store ${cause}. Nothing was lost; try again.`, {
    ...(error === undefined ? {} : { cause: error }),
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** Returns the error unchanged if it is an ordinary answer or a bug. */
export function namedS3Fault(error: unknown): unknown {
  const cause = describeS3Fault(error);
  return cause === null ? error : s3Unavailable(cause, error);
}

/** Continues "the blob store". Null: the store works. */
export function describeS3Fault(error: unknown): string | null {
  if (!(error instanceof Error) || error instanceof AppError) return null;
  const { $metadata, $response, code, name } = error as ErrorOfSdk;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode;
  if (error instanceof S3ServiceException) {
    if (!mayPass(status ?? 0)) return null;
    return /Unknown|^\d/.test(name) ? `answers ${status}` : `answers ${status} ${name}`;
  }
  if ($response !== undefined) return `answers ${status}, but not in the format of S3`;
  if (code !== undefined && LOST.test(code)) return `does not answer (${code})`;
  return name === 'TimeoutError' ? 'does not answer (it timed out)' : null;
}

interface ErrorOfSdk extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** Status of an answer that could not be parsed. */
  readonly $response?: { readonly statusCode?: number };
  readonly code?: string;
}

export const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceException &&
  (['NoSuchKey', 'NotFound'].includes(error.name) || error.$metadata.httpStatusCode === 404);
