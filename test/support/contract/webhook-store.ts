// What every WebhookStore promises, and what JobStore adds to it when a job ends; part of the storage contract.
import { expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { JobStatus } from '#domain/training-job';
import { WEBHOOK_EVENTS, type Webhook } from '#domain/webhook';
import type { Storage } from '#storage/storage';

const NOW = 1_700_000_000_000;
const FIRST = { after: null, limit: 100 };
const LEASE_MS = 30_000;

const aWebhook = (change: Partial<Webhook> = {}): Webhook => ({
  id: createId(),
  entity: 'team',
  url: "https://example.com/o'hook?ü=%20",
  events: WEBHOOK_EVENTS,
  secret: 'whsec_c2VjcmV0',
  createdAtMs: NOW,
  disabledAtMs: null,
  ...change,
});

type Ending = Extract<JobStatus, 'succeeded' | 'failed' | 'cancelled'>;

export function webhookContract(open: () => Promise<Storage>, addModel: (storage: Storage) => Promise<{ id: string }>) {
  async function addJob(storage: Storage): Promise<string> {
    const [id, { id: modelId }] = [createId(), await addModel(storage)];
    await storage.jobs.create({ id, type: 'sft', modelId, entity: 'team', keyId: 'k', bodyBlob: id, createdAtMs: NOW });
    return id;
  }
  const closingEvent = (jobId: string) => ({
    id: createId(),
    jobId,
    ordinal: 0,
    type: 'training_failed' as const,
    data: {},
    createdAtMs: NOW,
  });
  async function endJob(storage: Storage, status: Ending, endedAtMs = NOW): Promise<string> {
    const id = await addJob(storage);
    const { attempt } = (await storage.jobs.claim('w', NOW, 1_000, null))!;
    await storage.jobs.assignStep(id, attempt);
    const errorMessage = status === 'failed' ? 'it broke: "so"' : null;
    const ending = { status, errorMessage, endedAtMs, event: closingEvent(id), checkpoint: null };
    expect(await storage.jobs.finish(id, attempt, ending)).toBe(true);
    expect(await storage.jobs.finish(id, attempt, ending)).toBe(false);
    return id;
  }
  const logOf = async ({ webhooks }: Storage, { id }: Webhook) => (await webhooks.listDeliveries(id, FIRST)).rows;

  test('secrets are rewritten where they change, in every entity', async () => {
    const { webhooks } = await open();
    const [ours, theirs] = [aWebhook(), aWebhook({ entity: 'others', secret: 'whsec_b3RoZXI=' })];
    for (const each of [ours, theirs]) await webhooks.create(each, 2);
    await webhooks.rewriteSecrets(({ id, secret }) => (id === ours.id ? `new ${secret}` : secret));
    expect((await webhooks.find(ours.id))?.secret).toBe(`new ${ours.secret}`);
    expect(await webhooks.find(theirs.id)).toEqual(theirs);
  });

  test('webhooks are listed oldest first, each entity its own, up to their number', async () => {
    const { webhooks } = await open();
    const [newer, older] = [aWebhook({ events: ['training_job.failed'] }), aWebhook({ createdAtMs: NOW - 1 })];
    const others = aWebhook({ entity: 'others', disabledAtMs: NOW });
    for (const each of [newer, older, others]) expect(await webhooks.create(each, 2)).toBe('created');
    expect(await webhooks.create(aWebhook(), 2)).toBe('too_many');
    expect(await webhooks.list('team')).toEqual([older, newer]);
    expect(await webhooks.find(others.id)).toEqual(others);
    expect(await webhooks.find('unknown')).toBeNull();
    await webhooks.delete(newer.id);
    await webhooks.delete(newer.id);
    expect(await webhooks.list('team')).toEqual([older]);
    expect(await webhooks.create(aWebhook(), 2)).toBe('created');
  });

  test.each(['succeeded', 'failed', 'cancelled'] as const)(
    'a job that %s leaves one delivery for each',
    async (status) => {
      const storage = await open();
      const [all, one, wrong, gone, others] = [
        aWebhook(),
        aWebhook({ events: [`training_job.${status}`] }),
        aWebhook({ events: WEBHOOK_EVENTS.filter((event) => event !== `training_job.${status}`) }),
        aWebhook({ disabledAtMs: NOW }),
        aWebhook({ entity: 'others' }),
      ];
      for (const each of [all, one, wrong, gone, others]) await storage.webhooks.create(each, 20);
      const jobId = await endJob(storage, status, NOW + 5);
      const job = (await storage.jobs.find(jobId))!;
      for (const webhook of [all, one]) {
        const [delivery, ...more] = await logOf(storage, webhook);
        expect(more).toEqual([]);
        expect(delivery).toMatchObject({
          webhookId: webhook.id,
          jobId,
          event: `training_job.${status}`,
          createdAtMs: NOW + 5,
        });
        expect(delivery).toMatchObject({
          attempts: 0,
          nextAttemptAtMs: NOW + 5,
          lastStatus: null,
          lastError: null,
          deliveredAtMs: null,
        });
        expect(JSON.parse(delivery!.payload)).toEqual({
          type: `training_job.${status}`,
          timestamp: new Date(NOW + 5).toISOString(),
          data: { id: jobId, type: 'sft', model_id: job.modelId, status, step: 1, error_message: job.errorMessage },
        });
      }
      for (const webhook of [wrong, gone, others]) expect(await logOf(storage, webhook)).toEqual([]);
    },
  );

  test('a queued job that is cancelled leaves its delivery too; one that is asked to stop does not yet', async () => {
    const storage = await open();
    const webhook = aWebhook();
    await storage.webhooks.create(webhook, 20);
    const running = await addJob(storage);
    await storage.jobs.claim('w', NOW, 1_000, null);
    const queued = await addJob(storage);
    expect(await storage.jobs.requestCancel(running, NOW, closingEvent(running))).toBe('cancelling');
    for (const outcome of ['cancelled', 'already_finished'])
      expect(await storage.jobs.requestCancel(queued, NOW, closingEvent(queued))).toBe(outcome);
    expect(await logOf(storage, webhook)).toMatchObject([{ jobId: queued, event: 'training_job.cancelled' }]);
  });

  test('an ending that cannot be written leaves no delivery', async () => {
    const storage = await open();
    const webhook = aWebhook();
    await storage.webhooks.create(webhook, 20);
    const id = await addJob(storage);
    const event = { ...closingEvent(id), ordinal: 3 }; // a gap
    await expect(storage.jobs.requestCancel(id, NOW, event)).rejects.toThrow('gap');
    expect(await logOf(storage, webhook)).toEqual([]);
  });

  test('deliveries are listed newest first, strictly after the cursor, and go with their webhook', async () => {
    const storage = await open();
    const [webhook, other] = [aWebhook(), aWebhook()];
    for (const each of [webhook, other]) await storage.webhooks.create(each, 20);
    for (let i = 0; i < 4; i++) await endJob(storage, 'failed', NOW + Math.floor(i / 2));
    const all = await logOf(storage, webhook);
    expect(all.map(({ createdAtMs }) => createdAtMs - NOW)).toEqual([1, 1, 0, 0]);
    const page = (after: string, limit = 2) => storage.webhooks.listDeliveries(webhook.id, { after, limit });
    expect(await page(all[0]!.id)).toEqual({ rows: all.slice(1, 3), hasMore: true });
    expect(await page(all[1]!.id)).toEqual({ rows: all.slice(2), hasMore: false });
    expect(await page(all[3]!.id)).toEqual({ rows: [], hasMore: false });
    for (const after of ['unknown', (await logOf(storage, other))[0]!.id])
      await expect(page(after)).rejects.toMatchObject({ code: 'invalid_request', param: 'after' });
    await storage.webhooks.delete(webhook.id);
    expect(await logOf(storage, webhook)).toEqual([]);
    expect(await logOf(storage, other)).toHaveLength(4);
  });

  test('due deliveries are claimed once per lease, the longest waiting first', async () => {
    const storage = await open();
    const { webhooks } = storage;
    const webhook = aWebhook();
    await webhooks.create(webhook, 20);
    const jobs: string[] = [];
    for (let i = 0; i < 3; i++) jobs.push(await endJob(storage, 'succeeded', NOW + i));
    expect(await webhooks.claimDue(NOW - 1, LEASE_MS, 9)).toEqual([]);
    const claim = async (nowMs: number, limit: number) =>
      (await webhooks.claimDue(nowMs, LEASE_MS, limit)).map(({ delivery }) => jobs.indexOf(delivery.jobId));
    const [first] = await webhooks.claimDue(NOW + 1, LEASE_MS, 1);
    expect(first).toEqual({ webhook, delivery: (await logOf(storage, webhook)).at(-1) });
    expect(first!.delivery.nextAttemptAtMs).toBe(NOW + 1 + LEASE_MS);
    expect(await claim(NOW + 2, 9)).toEqual([1, 2]);
    expect(await claim(NOW + LEASE_MS, 9)).toEqual([]);
    expect(await webhooks.claimDue(NOW + LEASE_MS + 1, LEASE_MS, 9, ['another', webhook.id])).toEqual([]);
    expect(await claim(NOW + LEASE_MS + 1, 9)).toEqual([0]);
  });

  test('concurrent claims share the due deliveries', async () => {
    const storage = await open();
    await storage.webhooks.create(aWebhook(), 20);
    for (let i = 0; i < 5; i++) await endJob(storage, 'succeeded');
    const claims = await Promise.all(Array.from({ length: 4 }, () => storage.webhooks.claimDue(NOW, LEASE_MS, 2)));
    for (const claim of claims) expect(claim.length).toBeLessThanOrEqual(2);
    const ids = claims.flat().map(({ delivery }) => delivery.id);
    expect(ids).toHaveLength(5);
    expect(new Set(ids).size).toBe(5);
  });

  test('attempts are counted and the last one is remembered; one that was delivered stays so', async () => {
    const storage = await open();
    const { webhooks } = storage;
    const webhook = aWebhook();
    await webhooks.create(webhook, 20);
    await endJob(storage, 'failed');
    const { id } = (await webhooks.claimDue(NOW, LEASE_MS, 1))[0]!.delivery;
    const failed = { status: null, error: 'connection refused', nextAttemptAtMs: NOW + 9, deliveredAtMs: null };
    await webhooks.recordAttempt(id, failed);
    await webhooks.recordAttempt('unknown', failed);
    const now = async () => (await logOf(storage, webhook))[0];
    expect(await now()).toMatchObject({ attempts: 1, lastError: 'connection refused', nextAttemptAtMs: NOW + 9 });
    await webhooks.recordAttempt(id, { status: 204, error: null, nextAttemptAtMs: null, deliveredAtMs: NOW + 10 });
    expect(await now()).toMatchObject({
      attempts: 2,
      lastStatus: 204,
      lastError: null,
      nextAttemptAtMs: null,
      deliveredAtMs: NOW + 10,
    });
    expect(await webhooks.claimDue(NOW + 1e9, LEASE_MS, 9)).toEqual([]);
    expect(await webhooks.makeDue(webhook.id, id, NOW + 20)).toEqual(await now());
    expect((await webhooks.claimDue(NOW + 20, LEASE_MS, 9)).map(({ delivery }) => delivery.id)).toEqual([id]);
    await webhooks.recordAttempt(id, { ...failed, nextAttemptAtMs: null });
    expect(await now()).toMatchObject({ attempts: 3, nextAttemptAtMs: null, deliveredAtMs: NOW + 10 });
    for (const [of, named] of [
      [webhook.id, 'unknown'],
      ['unknown', id],
    ] as const)
      expect(await webhooks.makeDue(of, named, NOW)).toBeNull();
  });

  test('a webhook that is disabled gets nothing more', async () => {
    const storage = await open();
    const { webhooks } = storage;
    const webhook = aWebhook();
    await webhooks.create(webhook, 20);
    for (let i = 0; i < 2; i++) await endJob(storage, 'failed');
    const [claimed] = await webhooks.claimDue(NOW, LEASE_MS, 1);
    for (const atMs of [NOW + 1, NOW + 2]) await webhooks.disable(webhook.id, atMs);
    expect((await webhooks.find(webhook.id))?.disabledAtMs).toBe(NOW + 1);
    await webhooks.recordAttempt(claimed!.delivery.id, {
      status: 500,
      error: null,
      nextAttemptAtMs: NOW + 9,
      deliveredAtMs: null,
    });
    expect(await webhooks.makeDue(webhook.id, claimed!.delivery.id, NOW)).toBeNull();
    await endJob(storage, 'failed');
    expect((await logOf(storage, webhook)).map(({ nextAttemptAtMs }) => nextAttemptAtMs)).toEqual([null, null]);
    expect(await webhooks.claimDue(NOW + 1e9, LEASE_MS, 9)).toEqual([]);
  });

  test('old deliveries are deleted, unless they are still to be sent', async () => {
    const storage = await open();
    const { webhooks } = storage;
    const webhook = aWebhook();
    await webhooks.create(webhook, 20);
    for (const at of [0, 1, 2]) await endJob(storage, 'failed', NOW + at);
    const [oldest, , newest] = await webhooks.claimDue(NOW + 2, LEASE_MS, 3);
    for (const { delivery } of [oldest!, newest!])
      await webhooks.recordAttempt(delivery.id, {
        status: 200,
        error: null,
        nextAttemptAtMs: null,
        deliveredAtMs: NOW,
      });
    await webhooks.prune(NOW + 2);
    expect((await logOf(storage, webhook)).map(({ createdAtMs }) => createdAtMs - NOW)).toEqual([2, 1]);
  });
}
