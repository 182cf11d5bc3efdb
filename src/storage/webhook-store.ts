// Webhooks and their deliveries. Part of storage.ts. JobStore creates deliveries in the transaction that ends the job,
// so a crash neither loses nor duplicates one.
import type { Listing, Page } from '#domain/page';
import type { Webhook, WebhookDelivery } from '#domain/webhook';

export interface ClaimedDelivery {
  readonly delivery: WebhookDelivery;
  readonly webhook: Webhook;
}

export interface DeliveryAttempt {
  readonly status: number | null;
  readonly error: string | null;
  /** Null: no more attempts. */
  readonly nextAttemptAtMs: number | null;
  /** Null: the attempt failed. */
  readonly deliveredAtMs: number | null;
}

export interface WebhookStore {
  /** `too_many`: its entity already has `max` webhooks. */
  create(webhook: Webhook, max: number): Promise<'created' | 'too_many'>;
  /** Oldest first. */
  list(entity: string): Promise<readonly Webhook[]>;
  find(id: string): Promise<Webhook | null>;
  /** Of all entities, in one transaction. */
  rewriteSecrets(rewrite: (webhook: Webhook) => string): Promise<void>;
  /** Also deletes its deliveries. Idempotent. */
  delete(id: string): Promise<void>;
  /** Cancels its due deliveries and creates no new ones. Only the first call has an effect. */
  disable(id: string, nowMs: number): Promise<void>;

  /** Newest first. */
  listDeliveries(webhookId: string, page: Page): Promise<Listing<WebhookDelivery>>;
  /** Returns those that have been due longest, without those of these webhooks. They are due again after the lease, for any server. */
  claimDue(
    nowMs: number,
    leaseMs: number,
    limit: number,
    except?: readonly string[],
  ): Promise<readonly ClaimedDelivery[]>;
  /** Counts the attempt. A disabled webhook gets no next one. */
  recordAttempt(deliveryId: string, attempt: DeliveryAttempt): Promise<void>;
  /** Makes it due from `nowMs` on, whether delivered before or not. Null: the webhook has no such delivery, or is disabled. */
  makeDue(webhookId: string, deliveryId: string, nowMs: number): Promise<WebhookDelivery | null>;
  /** Removes deliveries created before then that will not be tried again. */
  prune(createdBeforeMs: number): Promise<void>;
}
