// Calls to a team's own server when one of its jobs ends or one of its episodes gets a reward, and the record of each. The content is
// fixed here, once, when that happens;
// services/webhooks/webhook-sender.ts signs and sends it.
import { createHash } from 'node:crypto';
import type { Episode, EpisodeGroup } from './episode.ts';
import type { JobStatus, TrainingJob } from './training-job.ts';

export const JOB_EVENTS = ['training_job.succeeded', 'training_job.failed', 'training_job.cancelled'] as const;
export const EPISODE_EVENTS = ['episode.rewarded', 'group.complete'] as const;
export const WEBHOOK_EVENTS = [...JOB_EVENTS, ...EPISODE_EVENTS] as const;
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
  /** Of the job, or of the rewarded episode; for a group, of its oldest rewarded episode. */
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
  const occasion = { event, subject: [job.id], causeId: job.id, data: dataOf(job) };
  return deliveriesFor(occasion, webhooks, nowMs);
}

/** The calls to make for an episode that has just got a reward. */
export function rewardDeliveriesOf(episode: Episode, webhooks: readonly Webhook[], nowMs: number): WebhookDelivery[] {
  const { id, modelId } = episode;
  const rewarded: Occasion = {
    event: 'episode.rewarded',
    subject: ['episode.rewarded', id, String(nowMs), String(episode.reward)], // another reward is another call
    causeId: id,
    data: {
      ...{ id, name: episode.name, group: episode.groupName, model_id: modelId },
      ...{ status: episode.outcome, reward: episode.reward, metrics: episode.metrics },
    },
  };
  return deliveriesFor(rewarded, webhooks, nowMs);
}

/** The calls to make for a group that is complete. `since`: its oldest rewarded episode. */
export function groupDeliveriesOf(
  { group, since }: { readonly group: EpisodeGroup; readonly since: string },
  webhooks: readonly Webhook[],
  nowMs: number,
): WebhookDelivery[] {
  const { modelId, name, rewarded, rewardsDiffer } = group;
  const complete: Occasion = {
    event: 'group.complete',
    subject: ['group.complete', modelId, name, since], // once, until its episodes are trained
    causeId: since,
    data: { ...{ group: name, model_id: modelId, episodes: rewarded }, rewards_differ: rewardsDiffer },
  };
  return deliveriesFor(complete, webhooks, nowMs);
}

interface Occasion {
  readonly event: WebhookEvent;
  /** Identifies it: the same subject is called once per webhook. */
  readonly subject: readonly string[];
  readonly causeId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** `webhooks`: all of the entity. */
function deliveriesFor(
  { event, subject, causeId, data }: Occasion,
  webhooks: readonly Webhook[],
  nowMs: number,
): WebhookDelivery[] {
  const payload = JSON.stringify({ type: event, timestamp: new Date(nowMs).toISOString(), data });
  return webhooks
    .filter(({ events, disabledAtMs }) => disabledAtMs === null && events.includes(event))
    .map(({ id }) => ({
      id: deliveryId(id, subject),
      webhookId: id,
      jobId: causeId,
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
const deliveryId = (webhookId: string, subject: readonly string[]): string =>
  `msg_${createHash('sha256')
    .update(JSON.stringify([webhookId, ...subject]))
    .digest('hex')
    .slice(0, 32)}`;

const dataOf = (job: TrainingJob): Occasion['data'] => ({
  id: job.id,
  type: job.type,
  model_id: job.modelId,
  status: job.status,
  step: job.step,
  error_message: job.errorMessage,
});
