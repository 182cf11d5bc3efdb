// Groups of episodes, counted. Part of episodes.ts.
import { sql, type Kysely } from 'kysely';
import { GROUP_SIZE_MIN, type EpisodeGroup, type EpisodeStatus } from '#domain/episode';
import type { CompleteGroup, GroupsWanted } from '../episode-store.ts';
import type { Tables } from './rows.ts';

interface GroupsAsked {
  readonly limit: number;
  readonly wanted?: GroupsWanted | undefined;
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

const TRAINED_TOKENS = sql<number>`sum(case when status = 'rewarded' then trained_token_count else 0 end)`;

export async function groupsOf(
  db: Kysely<Tables>,
  modelId: string,
  { limit, wanted, name }: GroupsAsked,
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
  if (wanted) {
    const { rewardedMin, state, isTrainable } = wanted;
    const ofTrained = isTrainable ? sql`and ${TRAINED_TOKENS} > 0` : sql``;
    const isComplete = sql<boolean>`${count('rewarded')} >= ${rewardedMin} and ${count('open')} = 0 ${ofTrained}`;
    const fresh = sql<number>`sum(case when ${isFresh(wanted)} then 1 else 0 end)`;
    if (state === 'incomplete') query = query.having(sql<boolean>`not (${isComplete})`);
    else query = query.having(isComplete).having(fresh, state === 'complete' ? '>=' : '<', rewardedMin);
  }
  const rows = await query.execute();
  return rows.map(({ group_name: groupName, differ, ...counts }) => ({
    modelId,
    name: groupName!,
    ...counts,
    rewardsDiffer: differ !== 0,
  }));
}

/** The rewarded episodes of a group, oldest first. */
export const rewardedOf = (db: Kysely<Tables>, modelId: string, groupName: string) =>
  db
    .selectFrom('episodes')
    .select('id')
    .where('model_id', '=', modelId)
    .where('group_name', '=', groupName)
    .where('status', '=', 'rewarded')
    .orderBy('ordinal');

/** A group that is complete now. */
export interface CompletedGroup {
  readonly group: EpisodeGroup;
  /** Its oldest rewarded episode. A group that is used again after it was trained has another one. */
  readonly since: string;
}

/** Of the groups of a model, those that are complete. */
export async function completedOf(
  tx: Kysely<Tables>,
  modelId: string,
  names: Iterable<string | null>,
): Promise<CompletedGroup[]> {
  const asked = [...new Set(names)].filter((name) => name !== null);
  if (asked.length === 0) return [];
  const online = await tx
    .selectFrom('online_training')
    .select('group_size_min')
    .where('model_id', '=', modelId)
    .executeTakeFirst();
  const wanted = { rewardedMin: online?.group_size_min ?? GROUP_SIZE_MIN, state: 'complete' as const };
  const completed: CompletedGroup[] = [];
  for (const name of asked) {
    const [group] = await groupsOf(tx, modelId, { limit: 1, name, wanted });
    if (!group) continue;
    const oldest = await rewardedOf(tx, modelId, name).limit(1).executeTakeFirstOrThrow();
    completed.push({ group, since: oldest.id });
  }
  return completed;
}
