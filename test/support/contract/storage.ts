// What every Storage promises. Run over SQLite and Postgres; a factory makes a fresh, empty store.
import { describe, expect, test } from 'vitest';
import { createId } from '#base/ids';
import type { Storage } from '#storage/storage';
import { accountContract } from './account-store.ts';
import { artifactContract } from './artifact-store.ts';
import { episodeContract } from './episode-store.ts';
import { evaluationContract } from './evaluation-store.ts';
import { idempotencyContract } from './idempotency-store.ts';
import { inventoryContract } from './inventory.ts';
import { jobContract } from './job-store.ts';
import { modelContract } from './model-store.ts';
import { responseContract } from './response-store.ts';
import { runContract } from './run-store.ts';
import { NOW, FIRST, aJob, anEvent, addModel, failing } from './stored-rows.ts';
import { tinkerContract } from './tinker-store.ts';
import { modelLabelContract } from './model-label-store.ts';
import { savePolicyContract } from './save-policy-store.ts';
import { trajectoryLogContract } from './trajectory-log-store.ts';
import { usageContract } from './usage-store.ts';
import { webhookContract } from './webhook-store.ts';

export function storageContract(name: string, open: () => Promise<Storage>): void {
  describe(`${name} keeps the storage contract`, () => {
    test('a key is found by its hash and revoked once', async () => {
      const { apiKeys } = await open();
      const key = {
        id: createId(),
        entity: 'team',
        name: "o'key",
        secretHash: 'abc',
        scopes: ['chat', 'read'] as const,
        limits: { queuedJobs: 3 },
        createdAtMs: NOW,
        lastUsedAtMs: null,
        revokedAtMs: null,
      };
      await apiKeys.create(key);
      expect(await apiKeys.findByHash('abc')).toEqual(key);
      expect(await apiKeys.findByHash('abd')).toBeNull();
      expect(await apiKeys.revoke(key.id, NOW + 1)).toBe('revoked');
      expect(await apiKeys.revoke(key.id, NOW + 2)).toBe('already_revoked');
      expect(await apiKeys.revoke(createId(), NOW)).toBe('not_found');
      expect(await apiKeys.list(null)).toEqual([{ ...key, revokedAtMs: NOW + 1 }]);
      expect(await apiKeys.findByHash('abc')).toEqual({ ...key, revokedAtMs: NOW + 1 });
      const older = { ...key, id: createId(), secretHash: 'older', createdAtMs: NOW - 1 };
      await apiKeys.create(older);
      expect((await apiKeys.list(null)).map(({ id }) => id)).toEqual([older.id, key.id]);
      await expect(apiKeys.create({ ...older, id: createId() })).rejects.toThrow();
      const others = { ...key, id: createId(), secretHash: 'others', entity: 'others' };
      await apiKeys.create(others);
      expect(await apiKeys.list('others')).toEqual([others]);
      for (const usedAtMs of [NOW + 5, NOW + 9, NOW + 7]) await apiKeys.touch(others.id, usedAtMs);
      expect((await apiKeys.findByHash('others'))?.lastUsedAtMs).toBe(NOW + 9);
      expect((await apiKeys.findByHash('older'))?.lastUsedAtMs).toBeNull();
    });

    test.each(["o'brien", '"; drop table models; --', 'per%cent_', 'ünï – 日本 🙂', 'back\\slash\n', ''])(
      'the text %j is kept and found as it is',
      async (text) => {
        const storage = await open();
        const odd = { id: `id-${text}`, entity: `e-${text}`, project: text, name: text, baseModel: text, runId: text };
        const model = await addModel(storage, odd);
        await addModel(storage, { entity: odd.entity });
        expect(await storage.models.find(odd.id)).toEqual(model);
        expect(await storage.models.findByName(odd.entity, text, text)).toEqual(model);
        expect((await storage.models.list({ entity: odd.entity, name: text }, FIRST)).rows).toEqual([model]);
        expect((await storage.models.list({ entity: odd.entity }, { after: odd.id, limit: 9 })).rows).toHaveLength(1);
        const job = { ...aJob(odd.id, odd.entity), id: `job-${text}` };
        await storage.jobs.create(job);
        const event = anEvent(job.id, 0, { id: `event-${text}`, data: { [text]: [text, { deep: null }] } });
        await storage.events.append(event);
        expect((await storage.events.list(job.id, FIRST)).rows).toEqual([event]);
        const claimed = (await storage.jobs.claim(text, NOW, 1000, null))!;
        await storage.jobs.finish(job.id, claimed.attempt, { ...failing(job.id, 1), errorMessage: text });
        expect(await storage.jobs.find(job.id)).toMatchObject({ id: job.id, entity: odd.entity, errorMessage: text });
        const zero = (await storage.checkpoints.find(odd.id, 0))!;
        await storage.checkpoints.mergeMetrics(zero.id, { [text]: 0.1 });
        expect((await storage.checkpoints.find(odd.id, 0))?.metrics).toEqual({ [text]: 0.1 });
      },
    );

    test('a number that is not finite is null when it is read', async () => {
      const storage = await open();
      const job = aJob((await addModel(storage)).id);
      await storage.jobs.create(job);
      await storage.events.append(anEvent(job.id, 0, { data: { loss: NaN, gradNorm: Infinity, tokens: 3 } }));
      expect((await storage.events.list(job.id, FIRST)).rows[0]?.data).toEqual({
        loss: null,
        gradNorm: null,
        tokens: 3,
      });
    });

    modelContract(open);
    jobContract(open);
    modelLabelContract(open);
    savePolicyContract(open);
    idempotencyContract(open);
    artifactContract(open);
    usageContract(open);
    accountContract(open);
    webhookContract(open, addModel);
    trajectoryLogContract(open, addModel);
    runContract(open);
    episodeContract(open);
    evaluationContract(open, addModel);
    responseContract(open);
    tinkerContract(open, addModel);
    inventoryContract(open, addModel);

    test('answers a ping', async () => {
      await (await open()).ping();
    });
  });
}
