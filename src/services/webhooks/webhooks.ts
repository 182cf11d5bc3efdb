// Webhooks as their owners see them: register, list, delete, read deliveries, send one again. webhook-sender.ts sends them.
import type { Clock } from '#base/clock';
import { createId, createWebhookSecret } from '#base/ids';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Listing, Page } from '#domain/page';
import { WEBHOOK_EVENTS, type Webhook, type WebhookDelivery, type WebhookEvent } from '#domain/webhook';
import type { WebhookStore } from '#storage/webhook-store';
import type { JobEvents } from '../jobs/job-events.ts';
import type { WebhookAddresses } from './webhook-address.ts';

export interface NewWebhook {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
}

/** Throws `not_found`, as all of these do for another entity's webhook. */
export interface Webhooks {
  /** Throws `invalid_request` for an invalid url, `too_many_requests`. */
  create(caller: Caller, webhook: NewWebhook): Promise<Webhook>;
  /** Oldest first. */
  list(caller: Caller): Promise<readonly Webhook[]>;
  delete(caller: Caller, id: string): Promise<void>;
  /** Newest first. */
  listDeliveries(caller: Caller, id: string, page: Page): Promise<Listing<WebhookDelivery>>;
  /** Sends it once more now, whatever its state. Throws `invalid_request` if the webhook is disabled. */
  redeliver(caller: Caller, id: string, deliveryId: string): Promise<WebhookDelivery>;
}

export interface WebhooksDeps {
  readonly store: WebhookStore;
  readonly jobEvents: JobEvents;
  readonly clock: Clock;
  readonly addresses: WebhookAddresses;
}

export const WEBHOOKS_MAX = 20;
/** The remedy takes a person: one has to be deleted. */
const RETRY_AFTER_SECONDS = 60;

export function createWebhooks({ store, jobEvents, clock, addresses }: WebhooksDeps): Webhooks {
  async function get(caller: Caller, id: string): Promise<Webhook> {
    const webhook = await store.find(id);
    if (webhook && webhook.entity === caller.entity) return webhook;
    throw new AppError('not_found', `No webhook ${id.slice(0, 100)}. List yours with GET /v1/webhooks.`);
  }

  return {
    async create({ entity }, { url, events }) {
      const fault = addresses.urlFault(url);
      if (fault !== null) throw new AppError('invalid_request', `The url ${fault}.`, { param: 'url' });
      const webhook: Webhook = {
        id: createId(),
        entity,
        url: new URL(url).href,
        events: WEBHOOK_EVENTS.filter((event) => events.includes(event)),
        secret: createWebhookSecret(),
        createdAtMs: clock.now(),
        disabledAtMs: null,
      };
      if ((await store.create(webhook, WEBHOOKS_MAX)) === 'created') return webhook;
      throw new AppError(
        'too_many_requests',
        `${entity} has ${WEBHOOKS_MAX} webhooks, which is the limit. Delete one.`,
        {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        },
      );
    },

    list: ({ entity }) => store.list(entity),

    async delete(caller, id) {
      await get(caller, id);
      await store.delete(id);
    },

    async listDeliveries(caller, id, page) {
      await get(caller, id);
      return store.listDeliveries(id, page);
    },

    async redeliver(caller, id, deliveryId) {
      const { disabledAtMs } = await get(caller, id);
      if (disabledAtMs !== null) {
        throw new AppError(
          'invalid_request',
          `Webhook ${id} is disabled: its receiver answered 410 Gone. Create a new one with POST /v1/webhooks.`,
        );
      }
      const delivery = await store.makeDue(id, deliveryId, clock.now());
      if (!delivery) {
        throw new AppError(
          'not_found',
          `No delivery ${deliveryId.slice(0, 100)} of webhook ${id}. They are kept for 30 days.`,
        );
      }
      jobEvents.notify(delivery.jobId); // wakes the sender
      return delivery;
    },
  };
}
