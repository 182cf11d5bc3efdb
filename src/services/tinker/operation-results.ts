// The result of an operation: JSON in its row, or a protobuf message in the blob store.
import { tinkerResultBlob } from '#domain/blob-names';
import { AppError } from '#domain/errors';
import type { ErrorCategory, TinkerOperation, TinkerRun } from '#domain/tinker';
import type { WaitingFor } from '#domain/training-job';
import type { BlobStore } from '#storage/blobs';

export type FutureAnswer =
  /** `waitingFor`: what the operation waits behind, if that is known. */
  | { readonly state: 'pending'; readonly waitingFor: WaitingFor | null }
  | { readonly state: 'json'; readonly json: string }
  | { readonly state: 'message'; readonly bytes: Uint8Array }
  | { readonly state: 'failed'; readonly error: string; readonly category: ErrorCategory };

const IN_BLOB = '';

/** Returns what the row stores. */
export async function storeResult(blobs: BlobStore, modelId: string, seq: number, output: Uint8Array): Promise<string> {
  await blobs.put(tinkerResultBlob(modelId, seq), output);
  return IN_BLOB;
}

export async function readResult(
  blobs: Pick<BlobStore, 'find'>,
  { modelId, waitingFor }: Pick<TinkerRun, 'modelId' | 'waitingFor'>,
  { seq, status, result, error, category }: TinkerOperation,
): Promise<FutureAnswer> {
  if (status === 'queued') return { state: 'pending', waitingFor };
  if (status === 'failed') return { state: 'failed', error: error ?? 'failed', category: category ?? 'server' };
  if (result !== IN_BLOB) return { state: 'json', json: result ?? '{}' };
  const bytes = await blobs.find(tinkerResultBlob(modelId, seq));
  if (bytes) return { state: 'message', bytes };
  throw new AppError('damaged_data', `The result of operation ${seq} is gone from the blob store.`);
}
