// The slow, simple reference for sql/webhooks.ts.
import { invariant } from '#base/invariant';
import type { Episode, EpisodeGroup } from '#domain/episode';
import type { TrainingJob } from '#domain/training-job';
import { deliveriesOf, episodeDeliveriesOf, type Webhook, type WebhookDelivery } from '#domain/webhook';
import { paginate } from './page.ts';
import type { WebhookStore } from '../webhook-store.ts';

export interface MemoryWebhooks {
  readonly store: WebhookStore;
  /** Called by jobs.ts when a job has ended. */
  enqueue(job: TrainingJob, nowMs: number): void;
  /** Called by episodes.ts when an episode gets a reward. */
  enqueueOfEpisode(episode: Episode, completed: EpisodeGroup | null, nowMs: number): void;
}

export function createMemoryWebhooks(): MemoryWebhooks {
  let webhooks: Webhook[] = [];
  let deliveries: WebhookDelivery[] = [];

  const ofEntity = (entity: string) => webhooks.filter((webhook) => webhook.entity === entity).sort(byAge);
  const webhookOf = ({ webhookId }: WebhookDelivery) => webhooks.find(({ id }) => id === webhookId)!;
  const update = (matches: (delivery: WebhookDelivery) => boolean, change: Partial<WebhookDelivery>) => {
    deliveries = deliveries.map((each) => (matches(each) ? { ...each, ...change } : each));
  };

  const add = (made: readonly WebhookDelivery[]) => {
    for (const delivery of made) if (!deliveries.some(({ id }) => id === delivery.id)) deliveries.push(delivery);
  };

  const store: WebhookStore = {
    async create(webhook, max) {
      if (ofEntity(webhook.entity).length >= max) return 'too_many';
      invariant(!webhooks.some(({ id }) => id === webhook.id), `there is a webhook ${webhook.id} already`);
      webhooks.push(webhook);
      return 'created';
    },
    list: async (entity) => ofEntity(entity),
    rewriteSecrets: async (rewrite) =>
      void (webhooks = webhooks.map((webhook) => ({ ...webhook, secret: rewrite(webhook) }))),
    find: async (id) => webhooks.find((webhook) => webhook.id === id) ?? null,
    async delete(id) {
      webhooks = webhooks.filter((webhook) => webhook.id !== id);
      deliveries = deliveries.filter(({ webhookId }) => webhookId !== id);
    },
    async disable(id, nowMs) {
      webhooks = webhooks.map((each) =>
        each.id === id && each.disabledAtMs === null ? { ...each, disabledAtMs: nowMs } : each,
      );
      update(({ webhookId }) => webhookId === id, { nextAttemptAtMs: null });
    },

    async listDeliveries(webhookId, page) {
      const newestFirst = deliveries.filter((each) => each.webhookId === webhookId).sort((a, b) => byAge(b, a));
      return paginate(newestFirst, newestFirst, page);
    },
    async claimDue(nowMs, leaseMs, limit) {
      const due = deliveries
        .filter(({ nextAttemptAtMs }) => nextAttemptAtMs !== null && nextAttemptAtMs <= nowMs)
        .sort((a, b) => a.nextAttemptAtMs! - b.nextAttemptAtMs! || byAge(a, b))
        .slice(0, limit);
      update((each) => due.includes(each), { nextAttemptAtMs: nowMs + leaseMs });
      return deliveries
        .filter(({ id }) => due.some((each) => each.id === id))
        .sort(byAge)
        .map((delivery) => ({ delivery, webhook: webhookOf(delivery) }));
    },
    async recordAttempt(deliveryId, { status, error, nextAttemptAtMs, deliveredAtMs }) {
      const delivery = deliveries.find(({ id }) => id === deliveryId);
      if (!delivery) return;
      update((each) => each === delivery, {
        attempts: delivery.attempts + 1,
        lastStatus: status,
        lastError: error,
        nextAttemptAtMs: webhookOf(delivery).disabledAtMs === null ? nextAttemptAtMs : null,
        deliveredAtMs: deliveredAtMs ?? delivery.deliveredAtMs,
      });
    },
    async makeDue(webhookId, deliveryId, nowMs) {
      const delivery = deliveries.find((each) => each.id === deliveryId && each.webhookId === webhookId);
      if (!delivery || webhookOf(delivery).disabledAtMs !== null) return null;
      update((each) => each === delivery, { nextAttemptAtMs: nowMs });
      return deliveries.find(({ id }) => id === deliveryId)!;
    },
    async prune(createdBeforeMs) {
      deliveries = deliveries.filter((each) => each.createdAtMs >= createdBeforeMs || each.nextAttemptAtMs !== null);
    },
  };

  return {
    store,
    enqueue: (job, nowMs) => add(deliveriesOf(job, ofEntity(job.entity), nowMs)),
    enqueueOfEpisode: (episode, completed, nowMs) =>
      add(episodeDeliveriesOf(episode, completed, ofEntity(episode.entity), nowMs)),
  };
}

const byAge = (a: { createdAtMs: number; id: string }, b: { createdAtMs: number; id: string }): number =>
  a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);
