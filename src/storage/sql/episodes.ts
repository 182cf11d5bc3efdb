// Episodes and their calls. Transactions of an entity run one after another (transaction.ts), so that bounds are checked and counts are kept
// in the same one.
import { sql, type Insertable, type Kysely, type Selectable, type Transaction } from 'kysely';
import { episodeRows } from '#domain/blob-names';
import {
  addedTokens,
  callBytes,
  EPISODE_STATUSES,
  episodeBytes,
  sampledTokens,
  type Episode,
  type EpisodeBounds,
  type EpisodeStatus,
  type NewEpisode,
} from '#domain/episode';
import type { Payer } from '../account-store.ts';
import type { EpisodeFilter, EpisodeRefusal, EpisodeStore } from '../episode-store.ts';
import { chargeWithin } from './accounts.ts';
import { add, joined, mayBegin, named } from './begun-episode.ts';
import { IS_NOT_IN_TRAINING, removedAtOnce, removeEpisodes } from './episodes-of-jobs.ts';
import { groupsOf, rewardedOf } from './episode-groups.ts';
import { fromEpisodeCall, toEpisode, toEpisodeCall, type EpisodeCallTable, type EpisodeTable } from './episode-rows.ts';
import { createGroupedTransactions } from './grouped-transactions.ts';
import { countRows, listPage } from './listing.ts';
import { makeDue } from './online-training.ts';
import { Refused, unlessRefused } from './refused.ts';
import { deleteRowsOf, inside, PIECE } from './pieces.ts';
import type { Tables } from './rows.ts';
import {
  ofEntity,
  orderOf as orderOfTable,
  transactionAlone,
  transactionOf,
  transactionOfOwner,
} from './transaction.ts';
import { enqueueEpisodeDeliveries } from './webhooks.ts';

const refused = (outcome: EpisodeRefusal) => ({ outcome });

export function createEpisodeStore(db: Kysely<Tables>): EpisodeStore {
  /** `work` returns null if it has to add an episode and may not: a new one takes the next number of all entities' episodes. */
  const grouped = createGroupedTransactions((entity, mayAdd, work) =>
    transactionOf(db, mayAdd ? [ofEntity(entity), orderOfTable('episodes')] : ofEntity(entity), work),
  );

  const ofEpisode = <T>(id: string, ifGone: T, work: (tx: Transaction<Tables>) => Promise<T>): Promise<T> =>
    transactionOfOwner(db, { table: 'episodes', id }, ifGone, work);

  return {
    create: (episode, bounds, payer, nowMs) =>
      unlessRefused(
        (outcome: EpisodeRefusal) => ({ outcome }),
        () =>
          grouped(episode.entity, async (tx, mayAdd) => {
            const existing = await named(tx, episode.modelId, episode.name);
            if (existing) return { outcome: 'exists' as const, episode: await joined(tx, existing, episode.groupName) };
            if (!mayAdd) return null;
            const made = await add(tx, episode, bounds, nowMs);
            await charge(tx, made, payer);
            return { outcome: 'created' as const, episode: made };
          }),
      ),

    capture: (call, of, bounds, payer) =>
      unlessRefused(refused, () =>
        grouped(of.entity, async (tx, mayAdd) => {
          const existing = await named(tx, of.modelId, of.name);
          const isGone = of.isBegun && existing?.id !== of.id;
          const stored = existing && !isGone ? null : await findCall(tx, call.id);
          if (stored) return stored;
          if (isGone) return { outcome: 'gone' as const };
          if (!existing && !mayAdd) return null;
          const before = existing ?? (await add(tx, of, bounds, call.createdAtMs));
          const ordinal = before.callCount;
          const tokens = before.tokenCount + addedTokens(call);
          const refusal = whyRefused(before, of, tokens, bounds);
          if (refusal === null && (await isAdded(tx, fromEpisodeCall(call, before.id, ordinal)))) {
            const row = await tx
              .updateTable('episodes')
              .set({
                group_name: before.groupName ?? of.groupName,
                last_call_at_ms: call.createdAtMs,
                active_at_ms: call.createdAtMs,
                call_count: ordinal + 1,
                token_count: tokens,
                trained_token_count: before.trainedTokenCount + (call.isTrainable ? sampledTokens(call.choices) : 0),
                call_bytes: before.callBytes + callBytes(call),
              })
              .where('id', '=', before.id)
              .returningAll()
              .executeTakeFirstOrThrow();
            const episode = toEpisode(row);
            await charge(tx, episode, payer);
            return { outcome: 'stored' as const, episode, ordinal };
          }
          const known = await findCall(tx, call.id);
          if (known) return known;
          if (refusal === 'ended' || refusal === 'other_group') return { outcome: refusal, episode: before };
          throw new Refused(refusal!);
        }),
      ),

    mayBegin: (entity, openMax) => mayBegin(db, entity, openMax),

    async find(id) {
      const row = await db.selectFrom('episodes').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? toEpisode(row) : null;
    },

    async findByName(entity, name, limit) {
      const rows = await db
        .selectFrom('episodes')
        .selectAll()
        .where('entity', '=', entity)
        .where('name', '=', name)
        .orderBy('ordinal')
        .limit(limit)
        .execute();
      return rows.map(toEpisode);
    },

    findOfModel: (modelId, name) => named(db, modelId, name),

    list: ({ entity, modelId, group, status, trainedBy, ...rewards }, page, order = 'asc') =>
      listPage(
        db,
        {
          table: 'episodes',
          of: { entity },
          where: { model_id: modelId, group_name: group, status, trained_by: trainedBy },
          also: rewarded(rewards),
          by: orderOf({ modelId, group, status, trainedBy }),
          order,
          heavy: ['metrics', 'turn_rewards', 'metadata'],
        },
        page,
        toEpisode,
      ),

    async count({ entity, modelId, group, trainedBy, ...rewards }, most) {
      const where = { model_id: modelId, group_name: group, trained_by: trainedBy };
      const owned = ownerOf(entity, modelId, trainedBy);
      const counts = {} as Record<EpisodeStatus, number>;
      for (const status of EPISODE_STATUSES) {
        const by = orderOf({ modelId, group, status, trainedBy });
        const listed = { of: owned.of, where: { ...where, status }, also: [...owned.also, ...rewarded(rewards)], by };
        counts[status] = await countRows(db, { table: 'episodes', ...listed }, most);
      }
      return counts;
    },

    async calls(episodeId, from, limit, parts) {
      const rows = await db
        .selectFrom('episode_calls')
        .select([...LIGHT, ...parts])
        .where('episode_id', '=', episodeId)
        .where('ordinal', '>=', from)
        .orderBy('ordinal')
        .limit(limit)
        .execute();
      return rows.map(toEpisodeCall);
    },

    reward: (id, { outcome, reward, metrics, turnRewards, groupName, metadata }, nowMs) =>
      ofEpisode<Awaited<ReturnType<EpisodeStore['reward']>>>(id, null, async (tx) => {
        const before = await tx.selectFrom('episodes').selectAll().where('id', '=', id).executeTakeFirst();
        if (!before) return null;
        const { status } = before;
        const change = {
          outcome,
          reward,
          metrics: JSON.stringify(metrics),
          turn_rewards: JSON.stringify(turnRewards),
          group_name: groupName ?? before.group_name,
          metadata: metadata === undefined ? before.metadata : JSON.stringify(metadata),
        };
        const isSame = (Object.keys(change) as (keyof typeof change)[]).every((key) => change[key] === before[key]);
        if (isSame && before.reward !== null) return { outcome: 'same' as const, episode: toEpisode(before) };
        if (status === 'trained' || status === 'expired') return { outcome: status, episode: toEpisode(before) };
        const rewardedAtMs = Math.max(nowMs, Number(before.rewarded_at_ms ?? 0) + 1); // of no earlier reward: a job names the one that it has read
        const row = await tx
          .updateTable('episodes')
          .set({ ...change, status: 'rewarded', rewarded_at_ms: rewardedAtMs, active_at_ms: nowMs })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow();
        const episode = toEpisode(row);
        await charge(tx, episode, UNLIMITED);
        await makeDue(tx, [episode.modelId]);
        const groups = [episode.groupName, ...(status === 'open' ? [before.group_name] : [])];
        await enqueueEpisodeDeliveries(tx, episode, { rewarded: episode, groups }, nowMs);
        return { outcome: 'rewarded' as const, episode };
      }),

    groups: (modelId, limit, wanted) => groupsOf(db, modelId, { limit, wanted }),

    async rewardedIds(modelId, groupName) {
      const rows = await rewardedOf(db, modelId, groupName).execute();
      return rows.map(({ id }) => id);
    },

    delete: (id, nowMs) =>
      ofEpisode(id, false, async (tx) => {
        const row = await tx.selectFrom('episodes').select(IN_GROUP).where('id', '=', id).executeTakeFirst();
        if (!row) return false;
        const isDeleted = (await removeEpisodes(tx, [id])) > 0;
        await tellWithout(tx, [row], nowMs);
        return isDeleted;
      }),

    expire: (activeBeforeMs, nowMs, limit) =>
      transactionAlone(db, async (tx) => {
        const old = await tx
          .selectFrom('episodes')
          .selectAll()
          .where('active_at_ms', '<', activeBeforeMs)
          .where(IS_NOT_IN_TRAINING)
          .orderBy('active_at_ms')
          .orderBy('ordinal')
          .limit(Math.min(limit, PIECE))
          .execute();
        const rows = removedAtOnce(old);
        const isOver = ({ status }: { status: EpisodeStatus }) => status === 'trained' || status === 'expired';
        const deleted = await removeEpisodes(
          tx,
          rows.filter(isOver).map(({ id }) => id),
        );
        const expiring = rows.filter((row) => !isOver(row));
        if (expiring.length === 0) return { expired: 0, deleted };
        const ids = expiring.map(({ id }) => id);
        await deleteRowsOf(inside(tx), 'episode_calls', ids);
        await tx
          .updateTable('episodes')
          .set({ status: 'expired', expired_at_ms: nowMs, active_at_ms: nowMs, call_bytes: 0 })
          .where('id', 'in', ids)
          .execute();
        await tellWithout(tx, expiring, nowMs);
        for (const row of expiring) await charge(tx, toEpisode({ ...row, call_bytes: 0 }), UNLIMITED);
        return { expired: ids.length, deleted };
      }),

    async countByStatus() {
      const rows = await db
        .selectFrom('episodes')
        .select(['status', (eb) => eb.fn.countAll<number | string>().as('count')])
        .groupBy('status')
        .execute();
      const counts = new Map(rows.map(({ status, count }) => [status, Number(count)]));
      return Object.fromEntries(EPISODE_STATUSES.map((status) => [status, counts.get(status) ?? 0])) as Record<
        EpisodeStatus,
        number
      >;
    },
  };
}

const UNLIMITED: Payer = { keyId: '', keyBytesMax: null, entityBytesMax: null };

const LIGHT = [
  'id',
  'episode_id',
  'ordinal',
  'answer_id',
  'model',
  'policy_step',
  'is_trainable',
  'is_cut',
  'reshaped_by',
  'choices',
  'parent_id',
  'parent_choice',
  'shared_token_count',
  'prompt_token_count',
  'created_at_ms',
] as const;

const rewarded = ({ rewardMin, rewardMax }: Pick<EpisodeFilter, 'rewardMin' | 'rewardMax'>) => [
  ...(rewardMin === undefined ? [] : [sql`reward >= ${rewardMin}`]),
  ...(rewardMax === undefined ? [] : [sql`reward <= ${rewardMax}`]),
];

/** Asks the model or the job whose it is: the indexes of their episodes do not have the entity, and reading each row would take long. */
function ownerOf(entity: string, modelId: string | undefined, trainedBy: string | undefined) {
  const isOwn = (table: 'models' | 'training_jobs', id: string) =>
    sql`exists (select 1 from ${sql.table(table)} where id = ${id} and entity = ${entity})`;
  if (trainedBy !== undefined) return { of: {}, also: [isOwn('training_jobs', trainedBy)] };
  return modelId === undefined ? { of: { entity }, also: [] } : { of: {}, also: [isOwn('models', modelId)] };
}

/** Ordered like the index that contains these rows. */
function orderOf(filter: { [Name in keyof Omit<EpisodeFilter, 'entity'>]: EpisodeFilter[Name] | undefined }) {
  if (filter.trainedBy !== undefined) return ['trained_by', 'ordinal'] as const;
  const owner = filter.modelId === undefined ? 'entity' : 'model_id';
  if (filter.group !== undefined) return [owner, 'group_name', 'ordinal'] as const;
  return filter.status === undefined ? ([owner, 'ordinal'] as const) : ([owner, 'status', 'ordinal'] as const);
}

/** Null: the call may be added. */
function whyRefused(
  { status, groupName, callCount }: Episode,
  { groupName: asked }: NewEpisode,
  tokens: number,
  { callsMax, tokensMax }: EpisodeBounds,
) {
  if (status !== 'open') return 'ended';
  if (asked !== null && groupName !== null && asked !== groupName) return 'other_group';
  if (callCount >= callsMax) return 'too_many_calls';
  return tokens > tokensMax ? 'too_many_tokens' : null;
}

const IN_GROUP = ['entity', 'model_id', 'group_name', 'status'] as const;

/** These episodes no longer count: without its open ones a group may be complete. */
async function tellWithout(
  tx: Transaction<Tables>,
  rows: readonly Pick<Selectable<EpisodeTable>, (typeof IN_GROUP)[number]>[],
  nowMs: number,
): Promise<void> {
  const models = new Map(rows.map(({ entity, model_id: modelId }) => [modelId, { entity, modelId }]));
  await makeDue(tx, [...models.keys()]);
  for (const model of models.values()) {
    const own = rows.filter(({ status, model_id: modelId }) => status === 'open' && modelId === model.modelId);
    const groups = own.map(({ group_name: name }) => name);
    await enqueueEpisodeDeliveries(tx, model, { groups }, nowMs);
  }
}

/** False: it is there already. */
async function isAdded(tx: Transaction<Tables>, row: Insertable<EpisodeCallTable>): Promise<boolean> {
  const { numInsertedOrUpdatedRows: count } = await tx
    .insertInto('episode_calls')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return Number(count) > 0;
}

/** A call that was stored before, and its episode. */
async function findCall(tx: Transaction<Tables>, callId: string) {
  const call = await tx
    .selectFrom('episode_calls')
    .select(['episode_id', 'ordinal'])
    .where('id', '=', callId)
    .executeTakeFirst();
  if (!call) return null;
  const row = await tx.selectFrom('episodes').selectAll().where('id', '=', call.episode_id).executeTakeFirstOrThrow();
  return { outcome: 'stored' as const, episode: toEpisode(row), ordinal: call.ordinal };
}

async function charge(tx: Transaction<Tables>, episode: Episode, payer: Payer): Promise<void> {
  const rows = { blob: episodeRows(episode.id), entity: episode.entity, sizeBytes: episodeBytes(episode) };
  if (!(await chargeWithin(tx, rows, payer))) throw new Refused('over_limit');
}
