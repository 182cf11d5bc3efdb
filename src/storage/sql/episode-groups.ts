// Groups of episodes, counted. Part of episodes.ts.
import { sql, type Kysely } from 'kysely';
import type { Episode, EpisodeGroup, EpisodeStatus } from '#domain/episode';
import type { CompleteGroup } from '../episode-store.ts';
import type { Tables } from './rows.ts';

interface GroupsAsked {
  readonly limit: number;
  readonly complete?: CompleteGroup | undefined;
  readonly name?: string;
}

/** Rewarded, and no trained call is older than the step. */
const isFresh = ({ stepMin }: CompleteGroup) =>
  stepMin === undefined
    ? sql`status = 'rewarded'`
    : sql`status = 'rewarded' and not exists (
        select 1 from episode_calls older
         where older.episode_id = episodes.id and older.is_trainable = 1 and older.is_cut = 0
           and older.policy_step < ${stepMin})`;

export async function groupsOf(
  db: Kysely<Tables>,
  modelId: string,
  { limit, complete, name }: GroupsAsked,
): Promise<EpisodeGroup[]> {
  const count = (status: EpisodeStatus) => sql<number>`sum(case when status = ${status} then 1 else 0 end)`;
  const rewardOf = sql`case when status = 'rewarded' then reward end`;
  let query = db
    .selectFrom('episodes')
    .select([
      'group_name',
      count('open').as('open'),
      count('rewarded').as('rewarded'),
      count('trained').as('trained'),
      count('expired').as('expired'),
      sql<number>`case when max(${rewardOf}) > min(${rewardOf}) then 1 else 0 end`.as('differ'),
    ])
    .where('model_id', '=', modelId)
    .where('group_name', 'in', (query) =>
      query
        .selectFrom('episodes as waiting')
        .select('waiting.group_name')
        .where('waiting.model_id', '=', modelId)
        .where('waiting.status', 'in', ['open', 'rewarded'])
        .where('waiting.group_name', 'is not', null),
    )
    .groupBy('group_name')
    .orderBy(sql`min(ordinal)`)
    .limit(limit);
  if (name !== undefined) query = query.where('group_name', '=', name);
  if (complete)
    query = query.having(
      sql<boolean>`sum(case when ${isFresh(complete)} then 1 else 0 end) >= ${complete.rewardedMin} and ${count('open')} = 0`,
    );
  const rows = await query.execute();
  return rows.map(({ group_name: groupName, differ, ...counts }) => ({
    modelId,
    name: groupName!,
    ...counts,
    rewardsDiffer: differ !== 0,
  }));
}

/** The episode's group, if it is complete. */
export async function completedBy(tx: Kysely<Tables>, { modelId, groupName: name }: Episode, rewardedMin: number) {
  if (name === null) return null;
  const [group] = await groupsOf(tx, modelId, { limit: 1, name, complete: { rewardedMin } });
  return group ?? null;
}
