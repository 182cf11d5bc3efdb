// Sends the calls that JobStore left in the outbox, until the receiver answers 2xx or the retries are used up. At least once: after a
// crash between a call and its record, the delivery is claimed again under the same webhook-id. Servers that share a database share
// the outbox. The content was fixed when the job ended.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { ClaimedDelivery, DeliveryAttempt, WebhookStore } from '#storage/webhook-store';
import { createWakeSignal } from '#base/wake-signal';
import type { JobEvents } from '../jobs/job-events.ts';
import { kindOfFailure, type PostWebhook } from './webhook-post.ts';
import { retryAtMs } from './webhook-retries.ts';
import { signedHeaders } from './webhook-signature.ts';

export interface WebhookSender {
  start(): void;
  /** Aborts running calls, which are due again at once. */
  stop(): Promise<void>;
}

export interface WebhookSenderDeps {
  readonly store: WebhookStore;
  readonly jobEvents: JobEvents;
  readonly clock: Clock;
  readonly log: Log;
  readonly post: PostWebhook;
}

/** Calls that run at once. */
const IN_FLIGHT_MAX = 32;
/** A webhook with so many is passed over, so that a receiver that does not answer delays its own calls alone. */
const IN_FLIGHT_OF_ONE = 4;
const DEADLINE_MS = 10_000;
/** Longer than a call and its record take. */
const LEASE_MS = 30_000;
/** Maximum delay until a delivery from another process, or one that is due again, is noticed. */
const POLL_MS = 1_000;
const PRUNE_EVERY_MS = 60 * 60 * 1_000;
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
const GONE = 410;
/** The same text for every cause: a webhook's owner must not learn which ports and names answer inside the operator's network. */
const NOT_REACHED = 'not reached';

export function createWebhookSender({ store, jobEvents, clock, log, post }: WebhookSenderDeps): WebhookSender {
  const stopping = new AbortController();
  /** With the id of its webhook. */
  const inFlight = new Map<Promise<void>, string>();
  const wakeSignal = createWakeSignal();
  let stopListening = () => {};
  let loop: Promise<void> = Promise.resolve();
  let prunedAtMs = -Infinity;
  let failing = false;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const room = Math.min(IN_FLIGHT_OF_ONE, IN_FLIGHT_MAX - inFlight.size);
      let claimed: readonly ClaimedDelivery[] = [];
      try {
        await pruneNowAndThen();
        if (room > 0) claimed = await store.claimDue(clock.now(), LEASE_MS, room, busy());
        if (failing) log.info('webhook_sender.recovered');
        failing = false;
      } catch (error) {
        if (!failing) log.error('webhook_sender.failed', { err: error }); // logged once: it tries again every second
        failing = true;
      }
      for (const each of claimed) {
        const sending = send(each).finally(() => {
          inFlight.delete(sending);
          wakeSignal.wake();
        });
        inFlight.set(sending, each.webhook.id);
      }
      if (claimed.length < room || room === 0) await wakeSignal.wait(POLL_MS);
    }
    await Promise.all(inFlight.keys());
  }

  /** Ids of webhooks that have as many calls as one may have. */
  function busy(): string[] {
    const counts = new Map<string, number>();
    for (const id of inFlight.values()) counts.set(id, (counts.get(id) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= IN_FLIGHT_OF_ONE).map(([id]) => id);
  }

  async function pruneNowAndThen(): Promise<void> {
    const nowMs = clock.now();
    if (nowMs - prunedAtMs < PRUNE_EVERY_MS) return;
    prunedAtMs = nowMs;
    await store.prune(nowMs - KEPT_MS);
  }

  /** Never fails: a delivery whose result could not be recorded is due again after its lease. */
  async function send(claimed: ClaimedDelivery): Promise<void> {
    const { delivery, webhook } = claimed;
    const about = { webhookId: webhook.id, deliveryId: delivery.id, jobId: delivery.jobId, type: delivery.event };
    const startMs = performance.now();
    try {
      const { attempt, cause } = await call(claimed);
      if (attempt === 'stopped') return void (await store.makeDue(webhook.id, delivery.id, clock.now()));
      await store.recordAttempt(delivery.id, attempt);
      const { status, error, nextAttemptAtMs, deliveredAtMs } = attempt;
      const fields = {
        ...about,
        status,
        attempt: delivery.attempts + 1,
        durationMs: Math.round(performance.now() - startMs),
      };
      if (deliveredAtMs !== null) log.info('webhook.delivered', fields);
      else log.warn('webhook.failed', { ...fields, error, cause, nextAttemptAtMs });
      if (status !== GONE) return;
      await store.disable(webhook.id, clock.now());
      log.warn('webhook.disabled', { webhookId: webhook.id });
    } catch (error) {
      log.error('webhook.not_recorded', { ...about, err: error });
    }
  }

  /** `cause` is for the operator's log. */
  async function call({
    delivery,
    webhook,
  }: ClaimedDelivery): Promise<{ attempt: DeliveryAttempt | 'stopped'; cause: string | null }> {
    const { id, payload, attempts } = delivery;
    const headers = {
      ...signedHeaders(webhook.secret, id, payload, clock.now()),
      'content-type': 'application/json',
      'user-agent': 'whetstone-webhooks',
    };
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(DEADLINE_MS)]);
    const failed = (status: number | null, error: string): DeliveryAttempt => {
      const nextAttemptAtMs = status === GONE ? null : retryAtMs(id, attempts + 1, clock.now());
      return { status, error, nextAttemptAtMs, deliveredAtMs: null };
    };
    try {
      const status = await post(webhook.url, headers, payload, signal);
      if (status < 200 || status > 299) return { attempt: failed(status, `answered ${status}`), cause: null };
      return { attempt: { status, error: null, nextAttemptAtMs: null, deliveredAtMs: clock.now() }, cause: null };
    } catch (error) {
      if (stopping.signal.aborted) return { attempt: 'stopped', cause: null };
      return { attempt: failed(null, NOT_REACHED), cause: kindOfFailure(error) };
    }
  }

  return {
    start() {
      stopListening = jobEvents.listen(() => wakeSignal.wake());
      loop = run();
    },
    async stop() {
      stopListening();
      stopping.abort();
      wakeSignal.wake();
      await loop;
    },
  };
}
