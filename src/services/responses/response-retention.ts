// Deletes stored responses after a configured time. Those that are not answered yet stay.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import { responseBlobs } from '#domain/blob-names';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { deleteInBatches } from '../delete-in-batches.ts';

export interface ResponseRetentionDeps {
  readonly storage: Pick<Storage, 'responses'>;
  readonly blobs: Pick<BlobStore, 'delete'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly keepMs: number;
}

/** Deletes expired responses. */
export async function deleteOldResponses({ storage, blobs, clock, log, keepMs }: ResponseRetentionDeps): Promise<void> {
  const beforeMs = clock.now() - keepMs;
  const responses = await deleteInBatches(
    (limit) => storage.responses.listBefore(beforeMs, limit),
    async ({ id }) => {
      await storage.responses.delete(id);
      await blobs.delete(responseBlobs(id));
    },
  );
  if (responses > 0) log.info('responses.expired', { responses });
}
