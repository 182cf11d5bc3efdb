// Episodes as they begin: found by their name, added, counted. Parts of the transactions of episodes.ts.
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Episode, EpisodeBounds, NewEpisode } from '#domain/episode';
import { toEpisode } from './episode-rows.ts';
import { Refused } from './refused.ts';
import type { Tables } from './rows.ts';

export async function named(db: Kysely<Tables>, modelId: string, name: string): Promise<Episode | null> {
  const row = await db
    .selectFrom('episodes')
    .selectAll()
    .where('model_id', '=', modelId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row ? toEpisode(row) : null;
}

/** An open episode without a group, as one of this group. */
export async function joined(tx: Transaction<Tables>, episode: Episode, groupName: string | null): Promise<Episode> {
  if (groupName === null || episode.groupName !== null || episode.status !== 'open') return episode;
  await tx.updateTable('episodes').set({ group_name: groupName }).where('id', '=', episode.id).execute();
  return { ...episode, groupName };
}

/** Whether the entity has fewer open episodes than this. */
export async function mayBegin(db: Kysely<Tables>, entity: string, openMax: number): Promise<boolean> {
  const last = await db
    .selectFrom('episodes')
    .select('id')
    .where('entity', '=', entity)
    .where('status', '=', 'open')
    .offset(Math.max(0, openMax - 1))
    .limit(1)
    .executeTakeFirst();
  return last === undefined && openMax > 0;
}

/** Throws `Refused`. */
export async function add(tx: Transaction<Tables>, episode: NewEpisode, { openMax }: EpisodeBounds, nowMs: number) {
  const model = await tx.selectFrom('models').select('id').where('id', '=', episode.modelId).executeTakeFirst();
  if (!model) throw new Refused('no_model');
  if (!(await mayBegin(tx, episode.entity, openMax))) throw new Refused('too_many_open');
  const row = await tx
    .insertInto('episodes')
    .values({
      id: episode.id,
      ordinal: sql<number>`(select coalesce(max(ordinal), 0) + 1 from episodes)`,
      entity: episode.entity,
      model_id: episode.modelId,
      name: episode.name,
      group_name: episode.groupName,
      status: 'open',
      outcome: null,
      reward: null,
      metrics: '{}',
      turn_rewards: '{}',
      metadata: JSON.stringify(episode.metadata),
      created_at_ms: nowMs,
      last_call_at_ms: null,
      rewarded_at_ms: null,
      expired_at_ms: null,
      active_at_ms: nowMs,
      trained_by: null,
      call_count: 0,
      token_count: 0,
      trained_token_count: 0,
      call_bytes: 0,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toEpisode(row);
}
