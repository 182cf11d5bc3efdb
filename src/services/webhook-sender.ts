// Sends what JobStore left in the outbox, until its receiver says 2xx or the retries are spent. At least once: whoever dies
// between a call and its record leaves the delivery to be claimed again, under the same webhook-id. Servers that share a
// database share the outbox. What is sent was decided when the job ended.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { ClaimedDelivery, DeliveryAttempt, WebhookStore } from '#storage/webhook-store';
import { createBell } from './bell.ts';
import type { JobEvents } from './job-events.ts';
import { wordsOfFailure, type PostWebhook } from './webhook-post.ts';
import { retryAtMs } from './webhook-retries.ts';
import { signedHeaders } from './webhook-signature.ts';

export interface WebhookSender {
  start(): void;
  /** Calls that run are cut off, and due again at once. */
  stop(): Promise<void>;
}

export interface WebhookSenderDeps {
  readonly store: WebhookStore;
  readonly jobEvents: JobEvents;
  readonly clock: Clock;
  readonly log: Log;
  readonly post: PostWebhook;
}

/** Slow receivers hold up each other, not the server. */
const IN_FLIGHT_MAX = 8;
const DEADLINE_MS = 10_000;
/** Longer than a call and its record take. */
const LEASE_MS = 30_000;
/** How long what another process left, or what is to be tried again, may wait for us to notice. */
const POLL_MS = 1_000;
const PRUNE_EVERY_MS = 60 * 60 * 1_000;
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000;
const GONE = 410;

export function createWebhookSender({ store, jobEvents, clock, log, post }: WebhookSenderDeps): WebhookSender {
  const stopping = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const bell = createBell();
  let stopListening = () => {};
  let loop: Promise<void> = Promise.resolve();
  let prunedAtMs = -Infinity;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const room = IN_FLIGHT_MAX - inFlight.size;
      let claimed: readonly ClaimedDelivery[] = [];
      try {
        await pruneNowAndThen();
        if (room > 0) claimed = await store.claimDue(clock.now(), LEASE_MS, room);
      } catch (error) {
        log.error('webhook_sender.failed', { err: error });
      }
      for (const each of claimed) {
        const sending = send(each).finally(() => {
          inFlight.delete(sending);
          bell.ring();
        });
        inFlight.add(sending);
      }
      if (claimed.length < room || room === 0) await bell.wait(POLL_MS);
    }
    await Promise.all(inFlight);
  }

  async function pruneNowAndThen(): Promise<void> {
    const nowMs = clock.now();
    if (nowMs - prunedAtMs < PRUNE_EVERY_MS) return;
    prunedAtMs = nowMs;
    await store.prune(nowMs - KEPT_MS);
  }

  /** Never fails: what could not be recorded is due again after its lease. */
  async function send(claimed: ClaimedDelivery): Promise<void> {
    const { delivery, webhook } = claimed;
    const about = { webhookId: webhook.id, deliveryId: delivery.id, jobId: delivery.jobId, type: delivery.event };
    const startMs = performance.now();
    try {
      const attempt = await call(claimed);
      if (attempt === 'stopped') return void (await store.makeDue(webhook.id, delivery.id, clock.now()));
      await store.recordAttempt(delivery.id, attempt);
      const { status, error, nextAttemptAtMs, deliveredAtMs } = attempt;
      const fields = { ...about, status, attempt: delivery.attempts + 1, durationMs: Math.round(performance.now() - startMs) }; // prettier-ignore
      if (deliveredAtMs !== null) log.info('webhook.delivered', fields);
      else log.warn('webhook.failed', { ...fields, error, nextAttemptAtMs });
      if (status !== GONE) return;
      await store.disable(webhook.id, clock.now());
      log.warn('webhook.disabled', { webhookId: webhook.id });
    } catch (error) {
      log.error('webhook.not_recorded', { ...about, err: error });
    }
  }

  async function call({ delivery, webhook }: ClaimedDelivery): Promise<DeliveryAttempt | 'stopped'> {
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
      if (status < 200 || status > 299) return failed(status, `answered ${status}`);
      return { status, error: null, nextAttemptAtMs: null, deliveredAtMs: clock.now() };
    } catch (error) {
      return stopping.signal.aborted ? 'stopped' : failed(null, wordsOfFailure(error));
    }
  }

  return {
    start() {
      stopListening = jobEvents.listen(() => bell.ring());
      loop = run();
    },
    async stop() {
      stopListening();
      stopping.abort();
      bell.ring();
      await loop;
    },
  };
}
