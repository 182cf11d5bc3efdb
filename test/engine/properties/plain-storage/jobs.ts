// The slow, simple reference for sql/jobs.ts.
import { invariant } from '#base/invariant';
import { isFinished, type TrainingJob } from '#domain/training-job';
import type { Episodes } from './episodes.ts';
import { appendEvent, numbered } from './events.ts';
import { paginate } from './page.ts';
import { asJson, refuseSecond, type ClaimableJob, type Tables } from './tables.ts';
import type { TestedStorage } from './tested-storage.ts';

export function createJobs(
  tables: Tables,
  episodes: Pick<Episodes, 'markTrained' | 'releaseTrained'>,
): TestedStorage['jobs'] {
  const runningAttempt = (id: string, attempt: number) =>
    tables.jobs.find((job) => job.id === id && job.attempt === attempt && job.status === 'running');
  const updateJob = (id: string, change: Partial<ClaimableJob>) => {
    tables.jobs = tables.jobs.map((job) => (job.id === id ? { ...job, ...change } : job));
  };
  const publicJob = ({ worker: _w, leaseUntilMs: _l, claimedAtMs: _c, ...job }: ClaimableJob): TrainingJob => job;

  return {
    async create(job) {
      invariant(
        tables.models.some((model) => model.id === job.modelId),
        `job of model ${job.modelId}, which is gone`,
      );
      refuseSecond(tables.jobs, job);
      const { episodes: trained = [], ...own } = job;
      episodes.markTrained(job, trained);
      const made: ClaimableJob = {
        ...own,
        status: 'queued',
        attempt: 0,
        savedAttempt: 0,
        cancelRequested: false,
        step: null,
        progress: 0,
        skipped: {},
        errorMessage: null,
        waitingFor: null,
        startedAtMs: null,
        endedAtMs: null,
        worker: null,
        leaseUntilMs: 0,
        claimedAtMs: 0,
      };
      tables.jobs.push(made);
      return publicJob(made);
    },
    async list(filter, page) {
      const all = tables.jobs.map(publicJob).filter((job) => job.entity === filter.entity);
      const matching = all.filter(
        (job) => job.modelId === (filter.modelId ?? job.modelId) && job.status === (filter.status ?? job.status),
      );
      return paginate(all, matching, page);
    },
    async count(status, account) {
      return tables.jobs.filter(
        (job) =>
          job.status === status &&
          job.entity === (account?.entity ?? job.entity) &&
          job.keyId === (account?.keyId ?? job.keyId),
      ).length;
    },
    async claim(worker, nowMs, leaseMs) {
      const lastClaim = (entity: string) =>
        Math.max(0, ...tables.jobs.filter((job) => job.entity === entity).map((job) => job.claimedAtMs));
      const next = tables.jobs
        .filter(
          ({ status, leaseUntilMs }) =>
            status === 'queued' ||
            (status === 'running' && (leaseUntilMs <= nowMs || leaseUntilMs > nowMs + 3 * leaseMs)),
        )
        .filter((job) => tables.jobs.find((j) => j.modelId === job.modelId && !isFinished(j.status)) === job)
        .sort(
          (a, b) => lastClaim(a.entity) - lastClaim(b.entity) || tables.jobs.indexOf(a) - tables.jobs.indexOf(b),
        )[0];
      if (!next) return null;
      updateJob(next.id, {
        status: 'running',
        worker,
        claimedAtMs: nowMs,
        leaseUntilMs: nowMs + leaseMs,
        attempt: next.attempt + 1,
        waitingFor: null,
      });
      return publicJob(tables.jobs.find((job) => job.id === next.id)!);
    },
    async renewLease(id, attempt, leaseUntilMs) {
      if (!runningAttempt(id, attempt)) return false;
      updateJob(id, { leaseUntilMs });
      return true;
    },
    async releaseLeases(worker) {
      for (const job of tables.jobs) {
        if (job.status === 'running' && (worker === null || job.worker === worker))
          updateJob(job.id, { leaseUntilMs: 0 });
      }
    },
    async assignStep(id, attempt) {
      const job = runningAttempt(id, attempt);
      if (!job) return null;
      const step = job.step ?? tables.lastSteps.get(job.modelId)! + 1;
      updateJob(id, { step });
      return step;
    },
    async updateProgress(id, attempt, update) {
      if (!runningAttempt(id, attempt)) return false;
      updateJob(id, update);
      return true;
    },
    async noteWaiting(id, attempt, { was, now }, event) {
      const job = tables.jobs.find((each) => each.id === id);
      const isOurs = attempt === null ? job?.status === 'queued' : runningAttempt(id, attempt) !== undefined;
      if (!isOurs || JSON.stringify(job!.waitingFor) !== JSON.stringify(was)) return false;
      if (event) {
        refuseSecond(tables.events, event);
        tables.events.push(asJson({ ...event, ordinal: numbered(tables, id).length - 1 }));
      }
      updateJob(id, { waitingFor: now });
      return true;
    },
    async finish(id, attempt, { status, errorMessage, endedAtMs, event, checkpoint }) {
      if (!runningAttempt(id, attempt)) return false;
      if (checkpoint) {
        const taken = tables.checkpoints.some((c) => c.modelId === checkpoint.modelId && c.step === checkpoint.step);
        invariant(
          tables.models.some((model) => model.id === checkpoint.modelId),
          `no model ${checkpoint.modelId}`,
        );
        invariant(!taken, `model ${checkpoint.modelId} has a step ${checkpoint.step} already`);
        refuseSecond(tables.checkpoints, checkpoint);
      }
      appendEvent(tables, event);
      if (checkpoint) {
        tables.checkpoints.push(asJson(checkpoint));
        const { modelId, step } = checkpoint;
        tables.lastSteps.set(modelId, Math.max(step, tables.lastSteps.get(modelId)!));
      } else episodes.releaseTrained(id);
      updateJob(id, {
        status,
        errorMessage,
        endedAtMs,
        waitingFor: null,
        ...(status === 'succeeded' ? { progress: 1 } : {}),
      });
      return true;
    },
    async requestCancel(id, nowMs, event) {
      const job = tables.jobs.find((j) => j.id === id);
      if (!job) return 'not_found';
      if (isFinished(job.status)) return 'already_finished';
      if (job.status === 'queued') {
        appendEvent(tables, event); // throws before anything has changed
        episodes.releaseTrained(id);
        updateJob(id, { status: 'cancelled', errorMessage: 'cancelled', endedAtMs: nowMs, waitingFor: null });
      }
      updateJob(id, { cancelRequested: true });
      return job.status === 'queued' ? 'cancelled' : 'cancelling';
    },
  };
}
