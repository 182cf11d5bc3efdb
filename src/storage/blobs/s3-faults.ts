// What an S3 store says when it cannot work, as `storage_unavailable` with the cause in words.
import { S3ServiceException } from '@aws-sdk/client-s3';
import { AppError } from '#domain/errors';

const RETRY_AFTER_SECONDS = 5;
/** Keys that are wrong or may not do this, too many requests, and what is the store's own doing. */
const mayPass = (status: number): boolean => [401, 403, 408, 429].includes(status) || status >= 500;
const LOST = /^(?:ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ERR_STREAM_PREMATURE_CLOSE)/;

export const s3Unavailable = (cause: string, error?: unknown): AppError =>
  new AppError('storage_unavailable', `The blob store ${cause}. Nothing was lost; try again.`, {
    ...(error === undefined ? {} : { cause: error }),
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** The error itself where it is an answer or a bug. */
export function namedS3Fault(error: unknown): unknown {
  const cause = describeS3Fault(error);
  return cause === null ? error : s3Unavailable(cause, error);
}

/** Behind "the blob store". Null: it can work. */
export function describeS3Fault(error: unknown): string | null {
  if (!(error instanceof Error) || error instanceof AppError) return null;
  const { $metadata, $response, code, name } = error as ErrorOfSdk;
  const status = $metadata?.httpStatusCode ?? $response?.statusCode;
  if (error instanceof S3ServiceException) {
    if (!mayPass(status ?? 0)) return null;
    return /Unknown|^\d/.test(name) ? `answers ${status}` : `answers ${status} ${name}`;
  }
  if ($response !== undefined) return `answers ${status} with what is no answer of S3`;
  if (code !== undefined && LOST.test(code)) return `does not answer (${code})`;
  return name === 'TimeoutError' ? 'does not answer (nothing came for too long)' : null;
}

interface ErrorOfSdk extends Error {
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** Of an answer that could not be understood. */
  readonly $response?: { readonly statusCode?: number };
  readonly code?: string;
}

export const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceException &&
  (['NoSuchKey', 'NotFound'].includes(error.name) || error.$metadata.httpStatusCode === 404);
