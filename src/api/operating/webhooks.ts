// Webhooks that are called when training jobs end, for keys with the scope admin. Creating one does not support Idempotency-Key:
// that would store the secret.
import { z } from 'zod';
import { JOB_EVENTS } from '#domain/webhook';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { envelope, pageQuery, toEnvelope, toPage } from '../http/listing.ts';
import { parse } from '#validation/parse';
import {
  createdWebhook,
  createWebhook,
  deliveryResponse,
  toDeliveryResponse,
  toWebhookResponse,
  webhookResponse,
} from './webhook.ts';

export function webhookRoutes({ webhooks }: Pick<ApiServices, 'webhooks'>): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/v1/webhooks',
      tag: 'Webhooks',
      summary:
        'Create a webhook: a URL that is called when training jobs end or episodes get a reward. The signing secret is shown only once',
      access: 'admin',
      errors: [400, 429],
      body: { schema: createWebhook, read: (raw) => parse(createWebhook, raw, 'body') },
      answer: createdWebhook,
      async handle({ caller, body: { url, events = JOB_EVENTS } }) {
        const webhook = await webhooks.create(caller, { url, events });
        return { ...toWebhookResponse(webhook), secret: webhook.secret };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/webhooks',
      tag: 'Webhooks',
      summary: 'List webhooks, oldest first',
      access: 'admin',
      answer: z.object({ object: z.literal('list'), data: z.array(webhookResponse) }),
      handle: async ({ caller }) => ({ object: 'list', data: (await webhooks.list(caller)).map(toWebhookResponse) }),
    }),
    endpoint({
      method: 'DELETE',
      path: '/v1/webhooks/{webhook_id}',
      tag: 'Webhooks',
      summary: 'Delete a webhook, including its past and pending deliveries',
      access: 'admin',
      errors: [404],
      answer: z.object({ id: z.string(), object: z.literal('webhook'), deleted: z.literal(true) }),
      async handle({ caller, params }) {
        const id = params.webhook_id!;
        await webhooks.delete(caller, id);
        return { id, object: 'webhook', deleted: true };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/v1/webhooks/{webhook_id}/deliveries',
      tag: 'Webhooks',
      summary: 'List the deliveries of a webhook, newest first. Covers the last 30 days',
      access: 'admin',
      errors: [404],
      query: pageQuery,
      answer: envelope(deliveryResponse),
      handle: async ({ caller, params, query }) =>
        toEnvelope(await webhooks.listDeliveries(caller, params.webhook_id!, toPage(query)), toDeliveryResponse),
    }),
    endpoint({
      method: 'POST',
      path: '/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver',
      tag: 'Webhooks',
      summary: 'Resend a delivery immediately. It has the same webhook-id',
      access: 'admin',
      errors: [400, 404],
      answer: deliveryResponse,
      handle: async ({ caller, params }) =>
        toDeliveryResponse(await webhooks.redeliver(caller, params.webhook_id!, params.delivery_id!)),
    }),
  ];
}
