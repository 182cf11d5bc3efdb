// The slow, obvious twin of sql/: arrays and maps, nothing survives. It defines what the contract suite means, and gives tests
// a storage without a disk.
import { invariant } from '#base/invariant';
import type { ApiKey } from '#domain/api-key';
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import { isFinished, type TrainingEvent, type TrainingJob } from '#domain/training-job';
import { addUsage, totalUsage, type UsageEntry } from '#domain/usage';
import { IN_PROGRESS_MS_MAX, REMEMBERED_MS } from './idempotency-times.ts';
import { createMemoryAccounts } from './memory-accounts.ts';
import { createMemoryArtifacts } from './memory-artifacts.ts';
import { createMemoryInventory } from './memory-inventory.ts';
import { paginate } from './memory-page.ts';
import { createMemoryWebhooks } from './memory-webhooks.ts';
import type { NewEvent, Storage } from './storage.ts';

interface Claimable extends TrainingJob {
  worker: string | null;
  leaseUntilMs: number;
  claimedAtMs: number;
}

interface Answer {
  readonly bodyHash: string;
  readonly resourceId: string;
  readonly createdAtMs: number;
  response: string | null;
  heldSinceMs: number;
}

export function createMemoryStorage(): Storage {
  let apiKeys: ApiKey[] = [];
  let models: Model[] = [];
  let checkpoints: Checkpoint[] = [];
  let jobs: Claimable[] = [];
  let events: TrainingEvent[] = [];
  const answers = new Map<string, Answer>();
  const webhooks = createMemoryWebhooks();
  const artifacts = createMemoryArtifacts();
  const accounts = createMemoryAccounts();

  const used = new Map<string, UsageEntry>();

  const eventsOf = (jobId: string) => events.filter((event) => event.jobId === jobId);
  const runningAttempt = (id: string, attempt: number) =>
    jobs.find((job) => job.id === id && job.attempt === attempt && job.status === 'running');
  const updateJob = (id: string, change: Partial<Claimable>) => {
    jobs = jobs.map((job) => (job.id === id ? { ...job, ...change } : job));
  };
  const publicJob = ({ worker: _w, leaseUntilMs: _l, claimedAtMs: _c, ...job }: Claimable): TrainingJob => job;

  function append(event: NewEvent): boolean {
    const count = eventsOf(event.jobId).length;
    if (event.ordinal < count) return false;
    invariant(
      event.ordinal === count,
      `event ${event.ordinal} of job ${event.jobId} would leave a gap after ${count} events`,
    );
    invariant(
      jobs.some((job) => job.id === event.jobId),
      `event of job ${event.jobId}, which is gone`,
    );
    refuseSecond(events, event);
    events.push(asJson(event));
    return true;
  }

  return {
    apiKeys: {
      async create(key) {
        refuseSecond(apiKeys, key);
        invariant(!apiKeys.some((k) => k.secretHash === key.secretHash), 'two keys have one secret');
        apiKeys.push(key);
      },
      async findByHash(secretHash) {
        return apiKeys.find((key) => key.secretHash === secretHash) ?? null;
      },
      async touch(id, usedAtMs) {
        apiKeys = apiKeys.map((k) =>
          k.id === id ? { ...k, lastUsedAtMs: Math.max(k.lastUsedAtMs ?? 0, usedAtMs) } : k,
        );
      },
      async list(entity) {
        return apiKeys
          .filter((key) => key.entity === (entity ?? key.entity))
          .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
      },
      async revoke(id, nowMs) {
        const key = apiKeys.find((k) => k.id === id);
        if (!key) return 'not_found';
        if (key.revokedAtMs !== null) return 'already_revoked';
        apiKeys = apiKeys.map((k) => (k.id === id ? { ...k, revokedAtMs: nowMs } : k));
        return 'revoked';
      },
    },

    models: {
      async create(model, stepZero) {
        const existing = models.find(
          (m) => m.entity === model.entity && m.project === model.project && m.name === model.name,
        );
        if (existing) return { outcome: 'exists', model: existing };
        refuseSecond(models, model);
        refuseSecond(checkpoints, stepZero);
        models.push(model);
        checkpoints.push(asJson(stepZero));
        return { outcome: 'created', model };
      },
      async find(id) {
        return models.find((m) => m.id === id) ?? null;
      },
      async findByName(entity, project, name) {
        return models.find((m) => m.entity === entity && m.project === project && m.name === name) ?? null;
      },
      async list(filter, page) {
        const wanted = models.filter(
          (m) =>
            m.entity === filter.entity &&
            m.project === (filter.project ?? m.project) &&
            m.name === (filter.name ?? m.name) &&
            m.baseModel === (filter.baseModel ?? m.baseModel),
        );
        return paginate(models, wanted, page);
      },
      async delete(id) {
        if (!models.some((m) => m.id === id)) return null;
        const gone = checkpoints.filter((c) => c.modelId === id).sort((a, b) => a.step - b.step);
        const goneJobs = jobs.filter((job) => job.modelId === id);
        models = models.filter((m) => m.id !== id);
        checkpoints = checkpoints.filter((c) => c.modelId !== id);
        jobs = jobs.filter((job) => job.modelId !== id);
        events = events.filter((event) => !goneJobs.some((job) => job.id === event.jobId));
        return { checkpoints: gone, bodyBlobs: goneJobs.map((job) => job.bodyBlob) };
      },
    },

    checkpoints: {
      async find(modelId, step) {
        return checkpoints.find((c) => c.modelId === modelId && c.step === step) ?? null;
      },
      async findLatest(modelId) {
        return bySteps(checkpoints, modelId).at(-1) ?? null;
      },
      async list(modelId, page, order) {
        const ascending = bySteps(checkpoints, modelId);
        const rows = order === 'asc' ? ascending : ascending.reverse();
        return paginate(rows, rows, page);
      },
      async mergeMetrics(id, metrics) {
        checkpoints = checkpoints.map((c) =>
          c.id === id ? { ...c, metrics: { ...c.metrics, ...asJson(metrics) } } : c,
        );
      },
      async delete(modelId, steps) {
        const wanted = [...new Set(steps)];
        const deleted = bySteps(checkpoints, modelId).filter((c) => wanted.includes(c.step));
        checkpoints = checkpoints.filter((c) => !deleted.includes(c));
        return { deleted, notFoundSteps: wanted.filter((step) => !deleted.some((c) => c.step === step)) };
      },
    },

    jobs: {
      async create(job) {
        invariant(
          models.some((model) => model.id === job.modelId),
          `job of model ${job.modelId}, which is gone`,
        );
        refuseSecond(jobs, job);
        const made: Claimable = {
          ...job,
          status: 'queued',
          attempt: 0,
          savedAttempt: 0,
          cancelRequested: false,
          step: null,
          progress: 0,
          skipped: {},
          errorMessage: null,
          startedAtMs: null,
          endedAtMs: null,
          worker: null,
          leaseUntilMs: 0,
          claimedAtMs: 0,
        };
        jobs.push(made);
        return publicJob(made);
      },
      async find(id) {
        const job = jobs.find((j) => j.id === id);
        return job ? publicJob(job) : null;
      },
      async list(filter, page) {
        const all = jobs.map(publicJob);
        const wanted = all.filter(
          (job) =>
            job.entity === filter.entity &&
            job.modelId === (filter.modelId ?? job.modelId) &&
            job.status === (filter.status ?? job.status),
        );
        return paginate(all, wanted, page);
      },
      async countQueued(account) {
        return jobs.filter(
          (job) =>
            job.status === 'queued' &&
            job.entity === (account?.entity ?? job.entity) &&
            job.keyId === (account?.keyId ?? job.keyId),
        ).length;
      },
      async claim(worker, nowMs, leaseMs, baseModels) {
        const hosted = (modelId: string) =>
          baseModels === undefined || baseModels.includes(models.find(({ id }) => id === modelId)!.baseModel);
        const lastClaim = (entity: string) =>
          Math.max(0, ...jobs.filter((job) => job.entity === entity).map((job) => job.claimedAtMs));
        const next = jobs
          .filter(
            ({ status, leaseUntilMs }) =>
              status === 'queued' ||
              (status === 'running' && (leaseUntilMs <= nowMs || leaseUntilMs > nowMs + 3 * leaseMs)),
          )
          .filter((job) => jobs.find((j) => j.modelId === job.modelId && !isFinished(j.status)) === job)
          .filter((job) => hosted(job.modelId))
          .sort((a, b) => lastClaim(a.entity) - lastClaim(b.entity) || jobs.indexOf(a) - jobs.indexOf(b))[0];
        if (!next) return null;
        updateJob(next.id, {
          status: 'running',
          worker,
          claimedAtMs: nowMs,
          leaseUntilMs: nowMs + leaseMs,
          attempt: next.attempt + 1,
        });
        return publicJob(jobs.find((job) => job.id === next.id)!);
      },
      async renewLease(id, attempt, leaseUntilMs) {
        if (!runningAttempt(id, attempt)) return false;
        updateJob(id, { leaseUntilMs });
        return true;
      },
      async releaseLeases(worker) {
        for (const job of jobs) {
          if (job.status === 'running' && (worker === null || job.worker === worker))
            updateJob(job.id, { leaseUntilMs: 0 });
        }
      },
      async updateProgress(id, attempt, update) {
        if (!runningAttempt(id, attempt)) return false;
        updateJob(id, update);
        return true;
      },
      async finish(id, attempt, { status, errorMessage, endedAtMs, event, checkpoint }) {
        if (!runningAttempt(id, attempt)) return false;
        if (checkpoint) {
          const taken = checkpoints.some((c) => c.modelId === checkpoint.modelId && c.step === checkpoint.step);
          invariant(
            models.some((model) => model.id === checkpoint.modelId),
            `no model ${checkpoint.modelId}`,
          );
          invariant(!taken, `model ${checkpoint.modelId} has a step ${checkpoint.step} already`);
          refuseSecond(checkpoints, checkpoint);
        }
        append(event);
        if (checkpoint) checkpoints.push(asJson(checkpoint));
        updateJob(id, { status, errorMessage, endedAtMs, ...(status === 'succeeded' ? { progress: 1 } : {}) });
        webhooks.enqueue(
          jobs.find((job) => job.id === id)!,
          endedAtMs,
        );
        return true;
      },
      async requestCancel(id, nowMs, event) {
        const job = jobs.find((j) => j.id === id);
        if (!job) return 'not_found';
        if (isFinished(job.status)) return 'already_finished';
        if (job.status === 'queued') {
          append(event); // throws before anything has changed
          updateJob(id, { status: 'cancelled', errorMessage: 'cancelled', endedAtMs: nowMs });
          webhooks.enqueue(
            jobs.find((each) => each.id === id)!,
            nowMs,
          );
        }
        updateJob(id, { cancelRequested: true });
        return job.status === 'queued' ? 'cancelled' : 'cancelling';
      },
    },

    events: {
      append: async (event) => append(event),
      list: async (jobId, page) => paginate(eventsOf(jobId), eventsOf(jobId), page),
      count: async (jobId) => eventsOf(jobId).length,
    },

    artifacts,

    accounts,

    inventory: createMemoryInventory(() => ({
      models,
      checkpoints,
      jobs,
      events,
      contents: artifacts.contents(),
      blobs: accounts.blobs(),
    })),

    webhooks: webhooks.store,

    idempotency: {
      async begin(key, bodyHash, resourceId, nowMs) {
        const known = answers.get(key);
        if (!known || nowMs - known.createdAtMs >= REMEMBERED_MS) {
          answers.set(key, { bodyHash, resourceId, response: null, createdAtMs: nowMs, heldSinceMs: nowMs });
          return { outcome: 'new', resourceId };
        }
        if (known.bodyHash !== bodyHash) return { outcome: 'mismatch' };
        if (known.response !== null) return { outcome: 'done', response: known.response };
        if (nowMs - known.heldSinceMs < IN_PROGRESS_MS_MAX) return { outcome: 'in_progress' };
        known.heldSinceMs = nowMs;
        return { outcome: 'new', resourceId: known.resourceId };
      },
      async complete(key, response) {
        const known = answers.get(key);
        if (known) known.response = response;
      },
      async release(key) {
        if (answers.get(key)?.response === null) answers.delete(key);
      },
      async letGo(key) {
        const known = answers.get(key);
        if (known?.response === null) known.heldSinceMs = 0;
      },
      async releaseAll() {
        for (const answer of answers.values()) answer.heldSinceMs = 0;
      },
    },

    usage: {
      async add(entries) {
        for (const entry of entries) addUsage(used, entry);
      },
      async list({ entity, keyId, project, model, from, to }, page) {
        const all = [...used]
          .map(([id, entry]) => ({ id, ...entry }))
          .filter((row) => row.entity === entity)
          .sort((a, b) => (a.dayUtc === b.dayUtc ? 0 : a.dayUtc < b.dayUtc ? -1 : 1));
        const wanted = all.filter(
          (row) =>
            row.keyId === (keyId ?? row.keyId) &&
            row.project === (project ?? row.project) &&
            row.model === (model ?? row.model) &&
            row.dayUtc >= (from ?? row.dayUtc) &&
            row.dayUtc <= (to ?? row.dayUtc),
        );
        return { ...paginate(all, wanted, page), totals: totalUsage(wanted) };
      },
    },

    async ping() {},
    async close() {},
  };
}

/** What a database gives back: JSON, so a number that is not finite is null. */
const asJson = <T>(row: T): T => JSON.parse(JSON.stringify(row)) as T;

function refuseSecond(rows: readonly { id: string }[], { id }: { id: string }): void {
  invariant(!rows.some((row) => row.id === id), `there is a row with the id ${id} already`);
}

const bySteps = (checkpoints: readonly Checkpoint[], modelId: string): Checkpoint[] =>
  checkpoints.filter((c) => c.modelId === modelId).sort((a, b) => a.step - b.step);
