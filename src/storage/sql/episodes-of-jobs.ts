// What happens to episodes when a job is made from them, and when they or their model are deleted: parts of those transactions.
import { sql, type Kysely } from 'kysely';
import { episodeRows } from '#domain/blob-names';
import { AppError } from '#domain/errors';
import { NEXT_STATUS, type JobStatus } from '#domain/training-job';
import type { ReadEpisode } from '../storage.ts';
import { deleteRowsOf, inPieces, inside, PIECE, type Within } from './pieces.ts';
import type { Tables } from './rows.ts';

export const UNFINISHED = (Object.keys(NEXT_STATUS) as JobStatus[]).filter((status) => NEXT_STATUS[status].length > 0);

/** Within the transaction that creates the job. Throws `episode_conflict`. */
export async function markTrained(
  tx: Kysely<Tables>,
  job: { readonly id: string; readonly modelId: string; readonly createdAtMs: number },
  episodes: readonly ReadEpisode[],
): Promise<void> {
  const marked = await inPieces(
    episodes.map(({ id }) => id),
    (ids) =>
      tx
        .updateTable('episodes')
        .set({ status: 'trained', trained_by: job.id, active_at_ms: job.createdAtMs })
        .where('id', 'in', ids)
        .where('model_id', '=', job.modelId)
        .where('status', '=', 'rewarded')
        .returning(['id', 'rewarded_at_ms'])
        .execute(),
  );
  const rewardedAt = new Map(marked.map(({ id, rewarded_at_ms: atMs }) => [id, atMs]));
  for (const { id, rewardedAtMs } of episodes) {
    const atMs = rewardedAt.get(id);
    if (atMs === undefined) throw notRewarded(id);
    if (Number(atMs) !== rewardedAtMs) throw rewardedAnew(id);
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

const rewardedAnew = (id: string): AppError =>
  new AppError(
    'episode_conflict',
    `Episode ${id} got another reward while the job was being made. Submit the job again, with that reward.`,
  );

/** With their calls and charges. Returns how many there were. */
export async function removeEpisodes(tx: Kysely<Tables>, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  await tx.deleteFrom('stored_blobs').where('blob', 'in', ids.map(episodeRows)).execute();
  await deleteRowsOf(inside(tx), 'episode_calls', ids);
  const { numDeletedRows } = await tx
    .deleteFrom('episodes')
    .where('id', 'in', [...ids])
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Calls of the episodes that one transaction removes, if it removes more than one. */
const CALLS_AT_ONCE = 4 * PIECE;

/** The first of them, as many as one transaction may remove with their calls. */
export function removedAtOnce<E extends { readonly call_count: number }>(episodes: readonly E[]): readonly E[] {
  let calls = 0;
  return episodes.filter(({ call_count: more }, i) => (calls += more) <= CALLS_AT_ONCE || i === 0);
}

/** No job that goes on trains it. */
export const IS_NOT_IN_TRAINING = sql<boolean>`not exists (
  select 1 from training_jobs where training_jobs.id = episodes.trained_by
     and training_jobs.status in (${sql.join(UNFINISHED)}))`;

/** Those of a model for which `condition` holds. */
export async function removeEpisodesOf(within: Within, modelId: string, condition = sql<boolean>`true`): Promise<void> {
  const removeSome = (tx: Kysely<Tables>) =>
    tx
      .selectFrom('episodes')
      .select(['id', 'call_count'])
      .where('model_id', '=', modelId)
      .where(condition)
      .limit(PIECE)
      .execute()
      .then(async (rows) => {
        const ids = removedAtOnce(rows).map(({ id }) => id);
        await removeEpisodes(tx, ids);
        return ids;
      });
  while ((await within(removeSome)).length > 0);
}
