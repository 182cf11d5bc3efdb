// What happens to episodes when a job is made from them, and when their model is deleted: parts of those transactions.
import { sql, type Kysely } from 'kysely';
import { episodeRows } from '#domain/blob-names';
import { AppError } from '#domain/errors';
import { NEXT_STATUS, type JobStatus } from '#domain/training-job';
import type { Tables } from './rows.ts';

export const UNFINISHED = (Object.keys(NEXT_STATUS) as JobStatus[]).filter((status) => NEXT_STATUS[status].length > 0);
/** Ids per statement. */
export const PIECE = 500;

/** Within the transaction that creates the job. Throws `episode_conflict`. */
export async function markTrained(
  tx: Kysely<Tables>,
  job: { readonly id: string; readonly modelId: string; readonly createdAtMs: number },
  episodeIds: readonly string[],
): Promise<void> {
  for (let at = 0; at < episodeIds.length; at += PIECE) {
    const ids = episodeIds.slice(at, at + PIECE);
    const rows = await tx
      .updateTable('episodes')
      .set({ status: 'trained', trained_by: job.id, active_at_ms: job.createdAtMs })
      .where('id', 'in', ids)
      .where('model_id', '=', job.modelId)
      .where('status', '=', 'rewarded')
      .returning('id')
      .execute();
    const marked = new Set(rows.map(({ id }) => id));
    const missing = ids.find((id) => !marked.has(id));
    if (missing !== undefined) throw notRewarded(missing);
  }
}

/** Within the transaction that ends a job without a checkpoint: its episodes can be trained by another one. */
export async function releaseTrained(tx: Kysely<Tables>, jobId: string): Promise<void> {
  await tx
    .updateTable('episodes')
    .set({ status: 'rewarded', trained_by: null })
    .where('trained_by', '=', jobId)
    .where('status', '=', 'trained')
    .execute();
}

const notRewarded = (id: string): AppError =>
  new AppError(
    'episode_conflict',
    `Episode ${id} is not a rewarded episode of this model (any more): another job has used it, or it has expired or was deleted. Leave it out.`,
  );

/** Within the transaction that deletes the model: its episodes go with it, their charges are not part of the model. */
export async function forgetEpisodeCharges(tx: Kysely<Tables>, modelId: string): Promise<void> {
  await tx
    .deleteFrom('stored_blobs')
    .where('blob', 'in', (query) =>
      query
        .selectFrom('episodes')
        .select(sql<string>`${episodeRows('')} || id`.as('blob'))
        .where('model_id', '=', modelId),
    )
    .execute();
}
