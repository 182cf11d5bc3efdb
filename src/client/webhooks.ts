// Webhooks: URLs that the server calls when jobs end or episodes get rewards, and the record of those calls. Needs a key with the scope
// admin.
import type { Http } from './http.ts';
import { segment } from './paths.ts';

export type WebhookEvent =
  'training_job.succeeded' | 'training_job.failed' | 'training_job.cancelled' | 'episode.rewarded' | 'group.complete';

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly created_at: string;
  /** When the receiver answered 410 Gone; null: it gets calls. */
  readonly disabled_at: string | null;
}

export interface WebhookDelivery {
  /** As in the header `webhook-id`. */
  readonly id: string;
  readonly webhook_id: string;
  readonly training_job_id: string | null;
  /** The episode whose reward caused the event. */
  readonly episode_id: string | null;
  readonly event: WebhookEvent;
  /** pending: another attempt will be made. */
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly created_at: string;
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  /** HTTP status of the last attempt; null: no answer. */
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly delivered_at: string | null;
}

export function createWebhookCalls({ call, rows }: Http) {
  const pathOf = (id: string): string => `/v1/webhooks/${segment(id)}`;
  return {
    /** `events`: the three of training jobs unless given. The secret that verifies signatures is in this answer only. */
    createWebhook: (request: {
      readonly url: string;
      readonly events?: readonly WebhookEvent[];
    }): Promise<Webhook & { readonly secret: string }> => call('POST', '/v1/webhooks', { body: request }),

    /** Oldest first. */
    async listWebhooks(): Promise<readonly Webhook[]> {
      const { data } = await call<{ readonly data: readonly Webhook[] }>('GET', '/v1/webhooks');
      return data;
    },

    /** Its past and pending calls too. */
    deleteWebhook: (id: string): Promise<{ readonly id: string; readonly deleted: true }> => call('DELETE', pathOf(id)),

    /** Newest first, of the last 30 days. */
    listWebhookDeliveries: (id: string) => rows<WebhookDelivery>(`${pathOf(id)}/deliveries`),

    /** Sends the call again now, with the same `webhook-id`. */
    redeliverWebhook: (id: string, deliveryId: string): Promise<WebhookDelivery> =>
      call('POST', `${pathOf(id)}/deliveries/${segment(deliveryId)}/redeliver`),
  };
}
