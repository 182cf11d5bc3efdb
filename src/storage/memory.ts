// The slow, obvious twin of sql/: arrays and maps, nothing survives. It defines what the contract suite means, and gives tests
// a storage without a disk.
import { invariant } from '#base/invariant';
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import { isFinished, type TrainingEvent, type TrainingJob } from '#domain/training-job';
import { toldDeletions, type SavePolicy } from '#domain/save-policy';
import type { KlReference } from '#domain/trajectory';
import { createMemoryAccounts } from './memory-accounts.ts';
import { createMemoryApiKeys } from './memory-api-keys.ts';
import { createMemoryArtifacts } from './memory-artifacts.ts';
import { createMemoryEvaluations } from './memory-evaluations.ts';
import { createMemoryIdempotency } from './memory-idempotency.ts';
import { createMemoryInventory } from './memory-inventory.ts';
import { bySteps, inOrder, paginate } from './memory-page.ts';
import { createMemoryResponses } from './memory-responses.ts';
import { createMemoryTinker } from './memory-tinker.ts';
import { createMemoryRuns } from './memory-runs.ts';
import { createMemoryTrajectoryLogs, withOldBody } from './memory-trajectory-logs.ts';
import { createMemoryUsage } from './memory-usage.ts';
import { createMemoryWebhooks } from './memory-webhooks.ts';
import type { NewEvent, Storage } from './storage.ts';

interface Claimable extends TrainingJob {
  worker: string | null;
  leaseUntilMs: number;
  claimedAtMs: number;
  klReference?: KlReference;
}

export function createMemoryStorage(): Storage {
  let models: Model[] = [];
  let checkpoints: Checkpoint[] = [];
  /** By model: the highest that it ever had. */
  const lastSteps = new Map<string, number>();
  /** By checkpoint. */
  const notes = new Map<string, Readonly<Record<string, unknown>>>();
  /** By checkpoint: when somebody was about to read its files last. */
  const uses = new Map<string, number>();
  const savePolicies = new Map<string, SavePolicy>();
  let jobs: Claimable[] = [];
  let events: TrainingEvent[] = [];
  const webhooks = createMemoryWebhooks();
  const logs = createMemoryTrajectoryLogs((id) => models.some((model) => model.id === id));
  const evaluations = createMemoryEvaluations(
    (jobId) => {
      const job = jobs.find(({ id, status }) => id === jobId && status === 'succeeded');
      return models.find(({ id }) => id === job?.modelId)?.baseModel ?? null;
    },
    (jobId) => jobs.find(({ id }) => id === jobId)?.step ?? null,
  );
  const responses = createMemoryResponses();
  const tinker = createMemoryTinker((id) => models.some((model) => model.id === id));
  const accounts = createMemoryAccounts();
  const artifacts = createMemoryArtifacts(accounts, () => models);
  const runs = createMemoryRuns(accounts);

  const eventsOf = (jobId: string) => events.filter((event) => event.jobId === jobId);
  const runningAttempt = (id: string, attempt: number) =>
    jobs.find((job) => job.id === id && job.attempt === attempt && job.status === 'running');
  const updateJob = (id: string, change: Partial<Claimable>) => {
    jobs = jobs.map((job) => (job.id === id ? { ...job, ...change } : job));
  };
  const byActivity = (a: Model, b: Model) => activeAtMs(a) - activeAtMs(b);
  const activeAtMs = ({ id, createdAtMs }: Model) =>
    Math.max(
      createdAtMs,
      ...jobs.filter((job) => job.modelId === id).map((job) => Math.max(job.createdAtMs, job.endedAtMs ?? 0)),
    );
  const publicJob = ({
    worker: _w,
    leaseUntilMs: _l,
    claimedAtMs: _c,
    klReference: _k,
    ...job
  }: Claimable): TrainingJob => job;

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
    apiKeys: createMemoryApiKeys(),

    models: {
      async create(model, stepZero, savePolicy = null) {
        const existing = models.find(
          (m) => m.entity === model.entity && m.project === model.project && m.name === model.name,
        );
        if (existing) return { outcome: 'exists', model: existing };
        refuseSecond(models, model);
        refuseSecond(checkpoints, stepZero);
        models.push(model);
        lastSteps.set(model.id, stepZero.step);
        checkpoints.push(asJson(stepZero));
        if (savePolicy) savePolicies.set(model.id, savePolicy);
        return { outcome: 'created', model };
      },
      async find(id) {
        return models.find((m) => m.id === id) ?? null;
      },
      findSavePolicy: async (id) => savePolicies.get(id) ?? null,
      async setSavePolicy(id, policy) {
        savePolicies.delete(id);
        if (policy && models.some((m) => m.id === id)) savePolicies.set(id, policy);
      },
      async findByName(entity, project, name) {
        return models.find((m) => m.entity === entity && m.project === project && m.name === name) ?? null;
      },
      async list(filter, page, order = 'asc') {
        const ordered = order === 'latest' ? models.toSorted(byActivity).reverse() : inOrder(models, order);
        const all = ordered.filter((m) => m.entity === filter.entity);
        const wanted = all.filter(
          (m) =>
            m.project === (filter.project ?? m.project) &&
            m.name === (filter.name ?? m.name) &&
            m.baseModel === (filter.baseModel ?? m.baseModel) &&
            `${m.project}/${m.name}`.toLowerCase().includes((filter.search ?? '').toLowerCase()),
        );
        return paginate(all, wanted, page);
      },
      async delete(id) {
        if (!models.some((m) => m.id === id)) return null;
        const gone = checkpoints.filter((c) => c.modelId === id).sort((a, b) => a.step - b.step);
        const goneJobs = jobs.filter((job) => job.modelId === id);
        models = models.filter((m) => m.id !== id);
        logs.removeModel(id);
        tinker.removeModel(id);
        evaluations.removeJobs(goneJobs.map((job) => job.id));
        checkpoints = checkpoints.filter((c) => c.modelId !== id);
        jobs = jobs.filter((job) => job.modelId !== id);
        events = events.filter((event) => !goneJobs.some((job) => job.id === event.jobId));
        return { checkpoints: gone, bodyBlobs: goneJobs.flatMap(({ bodyBlob }) => bodyBlob || []) };
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
      listLatest: async (modelIds, stepsMax) =>
        modelIds.flatMap((id) =>
          bySteps(checkpoints, id).filter(({ step }) => step > (lastSteps.get(id) ?? 0) - stepsMax),
        ),
      findById: async (id) => checkpoints.find((c) => c.id === id) ?? null,
      count: async (modelId) => bySteps(checkpoints, modelId).length,
      async setMetadata(id, metadata) {
        notes.set(id, asJson(metadata));
      },
      findMetadata: async (id) => notes.get(id) ?? {},
      async add(checkpoint, atLeastStep = 0) {
        const last = lastSteps.get(checkpoint.modelId);
        if (last === undefined || !models.some(({ id }) => id === checkpoint.modelId)) return null;
        const added = asJson({ ...checkpoint, step: Math.max(last + 1, atLeastStep) });
        refuseSecond(checkpoints, added);
        lastSteps.set(checkpoint.modelId, added.step);
        checkpoints.push(added);
        return added;
      },
      async noteUse(id, usedAtMs) {
        uses.set(id, Math.max(usedAtMs, uses.get(id) ?? 0));
      },
      async listNeeded(modelId, usedSinceMs) {
        const used = checkpoints.filter((c) => c.modelId === modelId && (uses.get(c.id) ?? 0) >= usedSinceMs);
        return [...used.map(({ step }) => step), ...evaluations.unfinishedSteps(modelId), ...tinker.stepsOf(modelId)];
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
        const { evaluation: _, ...own } = job;
        const made: Claimable = {
          ...own,
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
        evaluations.add(job);
        return publicJob(made);
      },
      async find(id) {
        const job = jobs.find((j) => j.id === id);
        return job ? publicJob(job) : null;
      },
      async list(filter, page, order = 'asc') {
        const all = inOrder(jobs, order)
          .map(publicJob)
          .filter((job) => job.entity === filter.entity);
        const wanted = all.filter(
          (job) => job.modelId === (filter.modelId ?? job.modelId) && job.status === (filter.status ?? job.status),
        );
        return paginate(all, wanted, page);
      },
      listLatest: async (modelIds) =>
        modelIds.flatMap((id) => jobs.findLast(({ modelId }) => modelId === id) ?? []).map(publicJob),
      listReferences: async (entity) =>
        jobs
          .filter((job) => job.entity === entity && !isFinished(job.status))
          .flatMap(({ modelId, klReference }) => (klReference ? [{ modelId, reference: klReference }] : [])),
      async countQueued(account) {
        return jobs.filter(
          (job) =>
            job.status === 'queued' &&
            job.entity === (account?.entity ?? job.entity) &&
            job.keyId === (account?.keyId ?? job.keyId),
        ).length;
      },
      async claim(worker, nowMs, leaseMs, baseModels) {
        const hosted = (modelId: string) => {
          const { baseModel } = models.find(({ id }) => id === modelId)!;
          if (baseModels === null) return true;
          return 'except' in baseModels ? !baseModels.except.includes(baseModel) : baseModels.includes(baseModel);
        };
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
      async assignStep(id, attempt) {
        const job = runningAttempt(id, attempt);
        if (!job) return null;
        const step = job.step ?? lastSteps.get(job.modelId)! + 1;
        updateJob(id, { step });
        return step;
      },
      async updateProgress(id, attempt, update) {
        if (!runningAttempt(id, attempt)) return false;
        updateJob(id, update);
        return true;
      },
      async finish(id, attempt, { status, errorMessage, endedAtMs, event, checkpoint, surplus }) {
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
        const unused = checkpoints.filter(
          (c) => surplus?.ids.includes(c.id) && (uses.get(c.id) ?? 0) < surplus.usedSinceMs,
        );
        append({
          ...event,
          data: { ...event.data, ...toldDeletions(unused.map(({ step }) => step).sort((a, b) => a - b)) },
        });
        checkpoints = checkpoints.filter((c) => !unused.includes(c));
        if (checkpoint) {
          checkpoints.push(asJson(checkpoint));
          const { modelId, step } = checkpoint;
          lastSteps.set(modelId, Math.max(step, lastSteps.get(modelId)!));
        } else evaluations.cancel(id, endedAtMs);
        updateJob(id, { status, errorMessage, endedAtMs, ...(status === 'succeeded' ? { progress: 1 } : {}) });
        webhooks.enqueue(
          jobs.find((job) => job.id === id)!,
          endedAtMs,
        );
        return true;
      },
      listWithOldBody: async (endedBeforeMs, limit) => withOldBody(jobs.map(publicJob), endedBeforeMs).slice(0, limit),
      async forgetBody(id) {
        if (jobs.some((job) => job.id === id && isFinished(job.status))) updateJob(id, { bodyBlob: '' });
      },
      async requestCancel(id, nowMs, event) {
        const job = jobs.find((j) => j.id === id);
        if (!job) return 'not_found';
        if (isFinished(job.status)) return 'already_finished';
        if (job.status === 'queued') {
          append(event); // throws before anything has changed
          evaluations.cancel(id, nowMs);
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
      findLatest: async (jobId) => eventsOf(jobId).at(-1) ?? null,
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
      responses: responses.rows(),
    })),

    webhooks: webhooks.store,
    trajectoryLogs: logs.store,
    evaluations: evaluations.store,
    responses: responses.store,
    tinker: tinker.store,
    runs,

    idempotency: createMemoryIdempotency(),

    usage: createMemoryUsage(),

    async ping() {},
    async close() {},
  };
}

/** What a database gives back: JSON, so a number that is not finite is null. */
const asJson = <T>(row: T): T => JSON.parse(JSON.stringify(row)) as T;

function refuseSecond(rows: readonly { id: string }[], { id }: { id: string }): void {
  invariant(!rows.some((row) => row.id === id), `there is a row with the id ${id} already`);
}
