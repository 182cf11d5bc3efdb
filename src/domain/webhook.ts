// Calls to a team's own server when one of its jobs ends, and the record of each. The content is fixed here, once, when the job ends;
// services/webhooks/webhook-sender.ts signs and sends it.
import { createHash } from 'node:crypto';
import type { JobStatus, TrainingJob } from './training-job.ts';

export const WEBHOOK_EVENTS = ['training_job.succeeded', 'training_job.failed', 'training_job.cancelled'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

export interface Webhook {
  readonly id: string; // uuid
  readonly entity: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** The secret as its owner received it: `whsec_` and base64. Rows hold it sealed (storage/sealed-webhooks.ts). */
  readonly secret: string;
  readonly createdAtMs: number;
  /** When the receiver asked to get no more calls (410). Null: it still gets them. */
  readonly disabledAtMs: number | null;
}

export interface WebhookDelivery {
  /** The same in every attempt, so that receivers recognise repeats. */
  readonly id: string;
  readonly webhookId: string;
  readonly jobId: string;
  readonly event: WebhookEvent;
  /** The body to send, byte for byte. */
  readonly payload: string;
  readonly createdAtMs: number;
  readonly attempts: number;
  /** Time of the next attempt. Null: delivered or given up. */
  readonly nextAttemptAtMs: number | null;
  /** HTTP status of the last attempt; null: there was no attempt, or no answer. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
  readonly deliveredAtMs: number | null;
}

const EVENT_OF = {
  queued: null,
  running: null,
  succeeded: 'training_job.succeeded',
  failed: 'training_job.failed',
  cancelled: 'training_job.cancelled',
} as const satisfies Record<JobStatus, WebhookEvent | null>;

/** The calls to make for a job that has just ended. `webhooks`: all of the job's entity. */
export function deliveriesOf(job: TrainingJob, webhooks: readonly Webhook[], nowMs: number): WebhookDelivery[] {
  const event = EVENT_OF[job.status];
  if (event === null) return [];
  const payload = payloadOf(job, event, nowMs);
  return webhooks
    .filter(({ events, disabledAtMs }) => disabledAtMs === null && events.includes(event))
    .map(({ id }) => ({
      id: deliveryId(id, job.id),
      webhookId: id,
      jobId: job.id,
      event,
      payload,
      createdAtMs: nowMs,
      attempts: 0,
      nextAttemptAtMs: nowMs,
      lastStatus: null,
      lastError: null,
      deliveredAtMs: null,
    }));
}

/** A job ends once, so there is one id per call: creating the call again gives the same row. */
const deliveryId = (webhookId: string, jobId: string): string =>
  `msg_${createHash('sha256')
    .update(JSON.stringify([webhookId, jobId]))
    .digest('hex')
    .slice(0, 32)}`;

const payloadOf = (job: TrainingJob, type: WebhookEvent, nowMs: number): string =>
  JSON.stringify({
    type,
    timestamp: new Date(nowMs).toISOString(),
    data: {
      id: job.id,
      type: job.type,
      model_id: job.modelId,
      status: job.status,
      step: job.step,
      error_message: job.errorMessage,
    },
  });
