// Webhooks and their deliveries. Part of storage.ts. Deliveries are made by JobStore, in the transaction that ends the job:
// none is lost by a crash, none is made twice.
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
  /** Null: it failed. */
  readonly deliveredAtMs: number | null;
}

export interface WebhookStore {
  /** `too_many`: its entity has `max` already. */
  create(webhook: Webhook, max: number): Promise<'created' | 'too_many'>;
  /** Oldest first. */
  list(entity: string): Promise<readonly Webhook[]>;
  find(id: string): Promise<Webhook | null>;
  /** Of all entities, in one transaction. */
  rewriteSecrets(rewrite: (webhook: Webhook) => string): Promise<void>;
  /** With its deliveries. Idempotent. */
  delete(id: string): Promise<void>;
  /** Nothing of it is due any more, and nothing new is made. The first time counts. */
  disable(id: string, nowMs: number): Promise<void>;

  /** Newest first. */
  listDeliveries(webhookId: string, page: Page): Promise<Listing<WebhookDelivery>>;
  /** Those that have been due longest. They are due again after the lease, for whoever claims then. */
  claimDue(nowMs: number, leaseMs: number, limit: number): Promise<readonly ClaimedDelivery[]>;
  /** Counts it. Of a disabled webhook there is no next one. */
  recordAttempt(deliveryId: string, attempt: DeliveryAttempt): Promise<void>;
  /** Due from `nowMs` on, delivered before or not. Null: the webhook has no such delivery, or is disabled. */
  makeDue(webhookId: string, deliveryId: string, nowMs: number): Promise<WebhookDelivery | null>;
  /** Removes what was made before and is not to be tried again. */
  prune(createdBeforeMs: number): Promise<void>;
}
