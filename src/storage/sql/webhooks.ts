// Webhooks and the outbox of their deliveries. Several servers send from one outbox: a claim moves the next attempt
// to the end of the lease, in one statement.
import { sql, type Kysely } from 'kysely';
import type { Episode } from '#domain/episode';
import type { TrainingJob } from '#domain/training-job';
import { deliveriesOf, groupDeliveriesOf, rewardDeliveriesOf, type WebhookDelivery } from '#domain/webhook';
import type { WebhookStore } from '../webhook-store.ts';
import type { StorageDialect } from './dialect.ts';
import { completedOf } from './episode-groups.ts';
import { listPage } from './listing.ts';
import { fromWebhook, fromWebhookDelivery, toWebhook, toWebhookDelivery, type Tables } from './rows.ts';
import { deleteRows, deleteRowsOf, inside } from './pieces.ts';
import { ofEntity, transactionAlone, transactionOf, transactionOfOwner } from './transaction.ts';

/** Within the transaction that ended the job. */
export async function enqueueDeliveries(tx: Kysely<Tables>, job: TrainingJob, nowMs: number): Promise<void> {
  await enqueue(tx, deliveriesOf(job, await webhooksOf(tx, job.entity), nowMs));
}

/**
 * Within the transaction that rewarded, moved or removed episodes of a model: tells of the reward, and of those of the groups that are
 * complete now.
 */
export async function enqueueEpisodeDeliveries(
  tx: Kysely<Tables>,
  { entity, modelId }: Pick<Episode, 'entity' | 'modelId'>,
  { rewarded, groups }: { readonly rewarded?: Episode; readonly groups: readonly (string | null)[] },
  nowMs: number,
): Promise<void> {
  const webhooks = await webhooksOf(tx, entity);
  if (rewarded) await enqueue(tx, rewardDeliveriesOf(rewarded, webhooks, nowMs));
  if (!webhooks.some(({ events }) => events.includes('group.complete'))) return;
  for (const completed of await completedOf(tx, modelId, groups))
    await enqueue(tx, groupDeliveriesOf(completed, webhooks, nowMs));
}

async function enqueue(tx: Kysely<Tables>, deliveries: readonly WebhookDelivery[]): Promise<void> {
  const rows = deliveries.map(fromWebhookDelivery);
  if (rows.length === 0) return;
  await tx
    .insertInto('webhook_deliveries')
    .values(rows)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

async function webhooksOf(db: Kysely<Tables>, entity: string) {
  const rows = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('entity', '=', entity)
    .orderBy('created_at_ms')
    .orderBy('id')
    .execute();
  return rows.map(toWebhook);
}

export function createWebhookStore(db: Kysely<Tables>, { skipLocked }: StorageDialect): WebhookStore {
  /** Nothing happens if it is gone. */
  const ofWebhook = (id: string, work: (tx: Kysely<Tables>) => Promise<void>): Promise<void> =>
    transactionOfOwner(db, { table: 'webhooks', id }, undefined, work);

  return {
    create(webhook, max) {
      return transactionOf(db, ofEntity(webhook.entity), async (tx) => {
        if ((await webhooksOf(tx, webhook.entity)).length >= max) return 'too_many';
        await tx.insertInto('webhooks').values(fromWebhook(webhook)).execute();
        return 'created';
      });
    },

    list: (entity) => webhooksOf(db, entity),

    async find(id) {
      const row = await db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst();
      return row ? toWebhook(row) : null;
    },

    async rewriteSecrets(rewrite) {
      await transactionAlone(db, async (tx) => {
        for (const row of await tx.selectFrom('webhooks').selectAll().execute()) {
          const secret = rewrite(toWebhook(row));
          if (secret === row.secret) continue;
          await tx.updateTable('webhooks').set({ secret }).where('id', '=', row.id).execute();
        }
      });
    },

    // A transaction of the entity: a job that ends meanwhile either finds the webhook or does not.
    async delete(id) {
      await deleteRowsOf((work) => transactionOfOwner(db, { table: 'webhooks', id }, [], work), 'webhook_deliveries', [
        id,
      ]);
      await ofWebhook(id, async (tx) => {
        await tx.deleteFrom('webhooks').where('id', '=', id).execute();
      });
    },

    async disable(id, nowMs) {
      await ofWebhook(id, async (tx) => {
        await tx
          .updateTable('webhooks')
          .set({ disabled_at_ms: nowMs })
          .where('id', '=', id)
          .where('disabled_at_ms', 'is', null)
          .execute();
        await tx
          .updateTable('webhook_deliveries')
          .set({ next_attempt_at_ms: null })
          .where('webhook_id', '=', id)
          .execute();
      });
    },

    listDeliveries: (webhookId, page) =>
      listPage(
        db,
        {
          table: 'webhook_deliveries',
          of: { webhook_id: webhookId },
          by: ['created_at_ms', 'id'],
          order: 'desc',
          heavy: ['payload', 'last_error'],
        },
        page,
        toWebhookDelivery,
      ),

    async claimDue(nowMs, leaseMs, limit, except = []) {
      const isOther = except.length === 0 ? sql<boolean>`true` : sql<boolean>`webhook_id not in (${sql.join(except)})`;
      const claimed = await db
        .with(
          // Materialized: otherwise Postgres may run the query again for each row, and take more than the limit.
          (name) => name('due').materialized(),
          (query) =>
            query
              .selectFrom('webhook_deliveries')
              .select('id')
              .where('next_attempt_at_ms', '<=', nowMs)
              .where(isOther)
              .orderBy('next_attempt_at_ms')
              .orderBy('created_at_ms')
              .orderBy('id')
              .limit(limit)
              .modifyEnd(skipLocked),
        )
        .updateTable('webhook_deliveries')
        .set({ next_attempt_at_ms: nowMs + leaseMs })
        .where('id', 'in', (query) => query.selectFrom('due').select('due.id'))
        .returningAll()
        .execute();
      if (claimed.length === 0) return [];
      const ids = [...new Set(claimed.map((row) => row.webhook_id))];
      const rows = await db.selectFrom('webhooks').selectAll().where('id', 'in', ids).execute();
      const webhooks = new Map(rows.map((row) => [row.id, toWebhook(row)]));
      return claimed
        .sort((a, b) => a.created_at_ms - b.created_at_ms || (a.id < b.id ? -1 : 1))
        .flatMap((row) => {
          const webhook = webhooks.get(row.webhook_id); // undefined if it was just deleted
          return webhook ? [{ delivery: toWebhookDelivery(row), webhook }] : [];
        });
    },

    async recordAttempt(deliveryId, { status, error, nextAttemptAtMs, deliveredAtMs }) {
      const of = await db
        .selectFrom('webhook_deliveries')
        .select('webhook_id')
        .where('id', '=', deliveryId)
        .executeTakeFirst();
      if (!of) return;
      await ofWebhook(of.webhook_id, async (tx) => {
        const row = await tx
          .selectFrom('webhook_deliveries')
          .innerJoin('webhooks', 'webhooks.id', 'webhook_deliveries.webhook_id')
          .select(['disabled_at_ms', 'attempts', 'delivered_at_ms'])
          .where('webhook_deliveries.id', '=', deliveryId)
          .executeTakeFirst();
        if (!row) return;
        await tx
          .updateTable('webhook_deliveries')
          .set({
            attempts: row.attempts + 1,
            last_status: status,
            last_error: error,
            next_attempt_at_ms: row.disabled_at_ms === null ? nextAttemptAtMs : null,
            delivered_at_ms: deliveredAtMs ?? row.delivered_at_ms,
          })
          .where('id', '=', deliveryId)
          .execute();
      });
    },

    async makeDue(webhookId, deliveryId, nowMs) {
      const row = await db
        .updateTable('webhook_deliveries')
        .set({ next_attempt_at_ms: nowMs })
        .where('id', '=', deliveryId)
        .where('webhook_id', '=', (query) =>
          query.selectFrom('webhooks').select('id').where('id', '=', webhookId).where('disabled_at_ms', 'is', null),
        )
        .returningAll()
        .executeTakeFirst();
      return row ? toWebhookDelivery(row) : null;
    },

    async prune(createdBeforeMs) {
      const isOver = sql`created_at_ms < ${createdBeforeMs} and next_attempt_at_ms is null`;
      await deleteRows(inside(db), 'webhook_deliveries', isOver);
    },
  };
}
