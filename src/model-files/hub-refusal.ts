// Explains in one sentence why a model cannot be fetched from the Hub, and what to do: a gated model, an unknown name, no network, a
// full disk. Knows the Hub's statuses and error codes; does not know what was being downloaded.
import { AppError } from '#domain/errors';
import { nameOf, type HubModel } from './hub-model.ts';

/** An unexpected answer. */
export class HubRefusal extends Error {
  readonly status: number;
  /** `GatedRepo`, `RepoNotFound`, `RevisionNotFound`, …; null: the answer contains none. */
  readonly code: string | null;

  constructor(response: Response) {
    super(`it answers with status ${response.status}`);
    this.status = response.status;
    this.code = response.headers.get('x-error-code');
  }
}

export interface RefusedDownload {
  readonly model: HubModel;
  readonly endpoint: string;
  readonly cacheDirectory: string;
  readonly hasToken: boolean;
  readonly signal: AbortSignal;
}

export function explainRefusal(error: unknown, refused: RefusedDownload): unknown {
  const { model, endpoint, cacheDirectory, signal } = refused;
  if (signal.aborted) return new AppError('cancelled', stopped(refused), { cause: error });
  if (error instanceof AppError) return error;
  const tried = `It is not a directory here and not complete in the cache ${cacheDirectory}`;
  const message = (error instanceof HubRefusal ? refusal(error, refused, tried) : null) ?? diskFault(error, refused);
  return new AppError(
    'base_model_not_found',
    message ??
      `Cannot get model ${nameOf(model)}. ${tried}, and downloading it from ${endpoint} failed: ${reasonOf(error)}.`,
    { cause: error },
  );
}

const stopped = ({ model, signal }: RefusedDownload): string =>
  (signal.reason as Error | undefined)?.name === 'TimeoutError'
    ? `The download of ${nameOf(model)} took too long. Start again: the download continues where it stopped.`
    : `The download of ${nameOf(model)} was cancelled.`;

function refusal({ status, code }: HubRefusal, refused: RefusedDownload, tried: string): string | null {
  const { model, endpoint, hasToken } = refused;
  if (code === 'RevisionNotFound' || (status === 404 && model.revision !== 'main'))
    return `Model ${model.id} has no revision ${model.revision} at ${endpoint}. Leave out @${model.revision} for the main branch.`;
  if (status === 404) return `No model ${model.id}. ${tried}, and it does not exist at ${endpoint}.`;
  if (status !== 401 && status !== 403) return null;
  const what = `${endpoint} refuses to send model ${nameOf(model)} (status ${status})`;
  const token = hasToken ? 'The token that was sent has no access to it' : 'Set HF_TOKEN to a token that has access';
  if (code === 'GatedRepo')
    return `${what}: it is gated. Accept its terms at ${endpoint}/${model.id}. ${hasToken ? `${token} before that` : token}.`;
  return `${what}: it does not exist, or is private or gated. ${token}.`;
}

const DISK_FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota of this user is used up',
  ENOTDIR: 'it is not a directory',
  EEXIST: 'it is not a directory',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'it is read-only',
};

function diskFault(error: unknown, { model, cacheDirectory }: RefusedDownload): string | null {
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  const fault = syscall === undefined ? undefined : DISK_FAULTS[code];
  if (fault === undefined) return null;
  return `Cannot store model ${nameOf(model)} in ${cacheDirectory}: ${fault}. Correct that, or set HF_HUB_CACHE to another directory.`;
}

export const noRoom = (model: HubModel, cacheDirectory: string, neededBytes: number, freeBytes: number): AppError =>
  new AppError(
    'base_model_not_found',
    `Model ${nameOf(model)} needs ${gigabytes(neededBytes)} more on the disk of ${cacheDirectory}, which has ${gigabytes(freeBytes)} free. Free some space, or set HF_HUB_CACHE to a directory on another disk.`,
  );

const gigabytes = (bytes: number): string => `${(bytes / 1e9).toFixed(1)} GB`;

export const offlineRefusal = (model: HubModel, cacheDirectory: string): AppError =>
  new AppError(
    'base_model_not_found',
    `Model ${nameOf(model)} is not complete in the cache ${cacheDirectory}, and HF_HUB_OFFLINE is set: unset it once to download the model.`,
  );

/** The message of "fetch failed" is useless; its cause says what happened. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
