// Deletes operations that no replay needs and no client asks for any more.
import { tinkerResultBlob } from '#domain/blob-names';
import type { TinkerRun } from '#domain/tinker';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';

/** How far behind the beginning of the log: clients fetch results in order, of as many requests as may be queued. */
const KEPT = 1_024;
const PAGE = 1_000;

export async function forgetOldOperations(
  { storage, blobs }: { readonly storage: Pick<Storage, 'tinker'>; readonly blobs: BlobStore },
  { id, modelId }: TinkerRun,
  stateSeq: number,
): Promise<void> {
  const before = stateSeq - KEPT;
  if (before <= 0) return;
  const old = await storage.tinker.listOperations(id, 0, PAGE);
  for (const { seq, kind } of old)
    if (seq < before && kind === 'forward_backward') await blobs.delete(tinkerResultBlob(modelId, seq));
  await storage.tinker.forgetOperations(id, Math.min(before, (old.at(-1)?.seq ?? 0) + 1));
}
