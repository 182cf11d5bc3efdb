// Webhooks and their deliveries on the wire.
import { z } from 'zod';
import { EPISODE_EVENTS, WEBHOOK_EVENTS, type Webhook, type WebhookDelivery } from '#domain/webhook';
import { isoOrNull } from '../http/time.ts';

export const createWebhook = z
  .looseObject({
    url: z.string().min(1).max(2_000).describe('The URL to call: http or https, without user name and password.'),
    events: z.array(z.enum(WEBHOOK_EVENTS)).min(1).optional().describe('Default: the three of training jobs.'),
  })
  .meta({ title: 'CreateWebhookRequest' });

export const webhookResponse = z
  .object({
    id: z.guid(),
    object: z.literal('webhook'),
    url: z.string(),
    events: z.array(z.enum(WEBHOOK_EVENTS)),
    created_at: z.iso.datetime(),
    disabled_at: z.iso
      .datetime()
      .nullable()
      .describe('When it was disabled because the receiver answered 410 Gone; null: it is enabled.'),
  })
  .meta({ title: 'Webhook' });

export const createdWebhook = webhookResponse.extend({
  secret: z.string().describe('Secret for verifying signatures. Shown only once.'),
});

export const deliveryResponse = z
  .object({
    id: z.string().describe('Id of the delivery, as in the header webhook-id.'),
    object: z.literal('webhook_delivery'),
    webhook_id: z.guid(),
    training_job_id: z.string().nullable(),
    episode_id: z.string().nullable().describe('The episode whose reward caused the event.'),
    event: z.enum(WEBHOOK_EVENTS).describe('The event.'),
    status: z.enum(['pending', 'delivered', 'failed']).describe('pending: another attempt will be made.'),
    created_at: z.iso.datetime(),
    attempts: z.int().describe('Number of delivery attempts.'),
    next_attempt_at: z.iso.datetime().nullable().describe('When the next attempt is made; null: there will be none.'),
    last_status: z.int().nullable().describe('HTTP status of the last attempt; null: no answer.'),
    last_error: z.string().nullable().describe('Error of the last attempt; null if it succeeded.'),
    delivered_at: z.iso.datetime().nullable().describe('When it was delivered; null if it has not been delivered.'),
  })
  .meta({ title: 'WebhookDelivery' });

export const toWebhookResponse = ({ id, url, events, createdAtMs, disabledAtMs }: Webhook) => ({
  id,
  object: 'webhook' as const,
  url,
  events: [...events],
  created_at: new Date(createdAtMs).toISOString(),
  disabled_at: isoOrNull(disabledAtMs),
});

export const toDeliveryResponse = (delivery: WebhookDelivery): z.input<typeof deliveryResponse> => ({
  id: delivery.id,
  object: 'webhook_delivery',
  webhook_id: delivery.webhookId,
  training_job_id: isOfEpisode(delivery) ? null : delivery.jobId,
  episode_id: isOfEpisode(delivery) ? delivery.jobId : null,
  event: delivery.event,
  status: delivery.nextAttemptAtMs !== null ? 'pending' : delivery.deliveredAtMs !== null ? 'delivered' : 'failed',
  created_at: new Date(delivery.createdAtMs).toISOString(),
  attempts: delivery.attempts,
  next_attempt_at: isoOrNull(delivery.nextAttemptAtMs),
  last_status: delivery.lastStatus,
  last_error: delivery.lastError,
  delivered_at: isoOrNull(delivery.deliveredAtMs),
});

const isOfEpisode = ({ event }: WebhookDelivery): boolean => (EPISODE_EVENTS as readonly string[]).includes(event);
