// Episodes and their calls. Transactions of an entity run one after another (transaction.ts), so that bounds are checked and counts are kept
// in the same one.
import { sql, type Insertable, type Kysely, type Transaction } from 'kysely';
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
  type NewEpisodeCall,
} from '#domain/episode';
import type { Payer } from '../account-store.ts';
import type { EpisodeFilter, EpisodeRefusal, EpisodeStore } from '../episode-store.ts';
import { chargeWithin } from './accounts.ts';
import { IS_NOT_IN_TRAINING, removedAtOnce, removeEpisodes } from './episodes-of-jobs.ts';
import { completedBy, groupsOf } from './episode-groups.ts';
import { fromEpisodeCall, toEpisode, toEpisodeCall, type EpisodeCallTable } from './episode-rows.ts';
import { createGroupedTransactions } from './grouped-transactions.ts';
import { listPage } from './listing.ts';
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

const refused = (outcome: EpisodeRefusal | 'no_parent') => ({ outcome });

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
            if (existing) return { outcome: 'exists' as const, episode: existing };
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
          const stored = existing ? null : await findCall(tx, call.id);
          if (stored) return stored;
          if (!existing && !mayAdd) return null;
          const before = existing ?? (await add(tx, of, bounds, call.createdAtMs));
          const ordinal = before.callCount;
          const tokens = before.tokenCount + addedTokens(call);
          const refusal = await whyRefused(tx, before, call, tokens, bounds);
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
          if (refusal === 'ended') return { outcome: refusal, episode: before };
          throw new Refused(refusal!);
        }),
      ),

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

    list: ({ entity, modelId, group, status, trainedBy, rewardMin, rewardMax }, page, order = 'asc') =>
      listPage(
        db,
        {
          table: 'episodes',
          of: { entity },
          where: { model_id: modelId, group_name: group, status, trained_by: trainedBy },
          also: [
            ...(rewardMin === undefined ? [] : [sql`reward >= ${rewardMin}`]),
            ...(rewardMax === undefined ? [] : [sql`reward <= ${rewardMax}`]),
          ],
          by: orderOf({ modelId, group, status, trainedBy }),
          order,
          heavy: ['metrics', 'turn_rewards', 'metadata'],
        },
        page,
        toEpisode,
      ),

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

    reward: (id, { outcome, reward, metrics, turnRewards, groupName, metadata }, nowMs, groupSizeMin) =>
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
        const row = await tx
          .updateTable('episodes')
          .set({ ...change, status: 'rewarded', rewarded_at_ms: nowMs, active_at_ms: nowMs })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow();
        const episode = toEpisode(row);
        await charge(tx, episode, UNLIMITED);
        await makeDue(tx, [episode.modelId]);
        await enqueueEpisodeDeliveries(tx, episode, await completedBy(tx, episode, groupSizeMin), nowMs);
        return { outcome: 'rewarded' as const, episode };
      }),

    groups: (modelId, limit, complete) => groupsOf(db, modelId, { limit, complete }),

    async rewardedIds(modelId, groupName) {
      const rows = await db
        .selectFrom('episodes')
        .select('id')
        .where('model_id', '=', modelId)
        .where('group_name', '=', groupName)
        .where('status', '=', 'rewarded')
        .orderBy('ordinal')
        .execute();
      return rows.map(({ id }) => id);
    },

    delete: (id) =>
      ofEpisode(id, false, async (tx) => {
        const episode = await tx.selectFrom('episodes').select('model_id').where('id', '=', id).executeTakeFirst();
        if (!episode) return false;
        await makeDue(tx, [episode.model_id]); // its group may be complete without it
        return (await removeEpisodes(tx, [id])) > 0;
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
        await makeDue(tx, [...new Set(expiring.map(({ model_id: modelId }) => modelId))]);
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

/** Ordered like the index that contains these rows. */
function orderOf(filter: { [Name in keyof Omit<EpisodeFilter, 'entity'>]: EpisodeFilter[Name] | undefined }) {
  if (filter.trainedBy !== undefined) return ['trained_by', 'ordinal'] as const;
  const owner = filter.modelId === undefined ? 'entity' : 'model_id';
  if (filter.group !== undefined) return [owner, 'group_name', 'ordinal'] as const;
  return filter.status === undefined ? ([owner, 'ordinal'] as const) : ([owner, 'status', 'ordinal'] as const);
}

async function named(db: Kysely<Tables>, modelId: string, name: string): Promise<Episode | null> {
  const row = await db
    .selectFrom('episodes')
    .selectAll()
    .where('model_id', '=', modelId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row ? toEpisode(row) : null;
}

/** Null: the call may be added. */
async function whyRefused(
  tx: Transaction<Tables>,
  { id, status, callCount }: Episode,
  { parentId }: NewEpisodeCall,
  tokens: number,
  { callsMax, tokensMax }: EpisodeBounds,
) {
  if (status !== 'open') return 'ended';
  if (parentId !== null && !(await isCallOf(tx, id, parentId))) return 'no_parent';
  if (callCount >= callsMax) return 'too_many_calls';
  return tokens > tokensMax ? 'too_many_tokens' : null;
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

async function isCallOf(tx: Kysely<Tables>, episodeId: string, callId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('episode_calls')
    .select('id')
    .where('id', '=', callId)
    .where('episode_id', '=', episodeId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Throws `Refused`. */
async function add(tx: Transaction<Tables>, episode: NewEpisode, { openMax }: EpisodeBounds, nowMs: number) {
  const model = await tx.selectFrom('models').select('id').where('id', '=', episode.modelId).executeTakeFirst();
  if (!model) throw new Refused('no_model');
  const { count } = await tx
    .selectFrom('episodes')
    .select((eb) => eb.fn.countAll<number | string>().as('count'))
    .where('entity', '=', episode.entity)
    .where('status', '=', 'open')
    .executeTakeFirstOrThrow();
  if (Number(count) >= openMax) throw new Refused('too_many_open');
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

async function charge(tx: Transaction<Tables>, episode: Episode, payer: Payer): Promise<void> {
  const rows = { blob: episodeRows(episode.id), entity: episode.entity, sizeBytes: episodeBytes(episode) };
  if (!(await chargeWithin(tx, rows, payer))) throw new Refused('over_limit');
}
