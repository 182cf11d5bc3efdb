// The slow, simple reference for sql/evaluations.ts.
import { isEvaluated, type Evaluation } from '#domain/evaluation';
import type { EvaluationStore } from '../evaluation-store.ts';
import { inOrder, paginate } from './page.ts';
import type { NewJob } from '../storage.ts';

interface Claimable extends Evaluation {
  readonly leaseUntilMs: number;
  readonly claimedAtMs: number;
}

export interface MemoryEvaluations {
  readonly store: EvaluationStore;
  /** For jobs.ts. */
  add(job: NewJob): void;
  /** Cancels one that has not started. */
  cancel(jobId: string, nowMs: number): void;
  removeJobs(jobIds: readonly string[]): void;
  /** Steps of checkpoints that an evaluation uses or will use. */
  unfinishedSteps(modelId: string): readonly number[];
}

/** `baseModelOf`: for a job that has produced its checkpoint; null: it has not. `stepOf`: for a job that runs or ran. */
export function createMemoryEvaluations(
  baseModelOf: (jobId: string) => string | null,
  stepOf: (jobId: string) => number | null,
): MemoryEvaluations {
  let rows: Claimable[] = [];
  const change = (jobId: string, changes: Partial<Claimable>) => {
    rows = rows.map((row) => (row.jobId === jobId ? { ...row, ...changes } : row));
  };
  const find = (jobId: string) => rows.find((row) => row.jobId === jobId);
  const running = (jobId: string, attempt: number) => {
    const row = find(jobId);
    return row?.status === 'running' && row.attempt === attempt ? row : null;
  };
  const shown = ({ leaseUntilMs: _l, claimedAtMs: _c, ...evaluation }: Claimable): Evaluation => evaluation;
  const lastClaim = (entity: string) =>
    Math.max(0, ...rows.filter((row) => row.entity === entity).map((row) => row.claimedAtMs));

  function cancel(jobId: string, nowMs: number): void {
    if (find(jobId)?.status === 'queued')
      change(jobId, { status: 'cancelled', errorMessage: 'cancelled', endedAtMs: nowMs });
  }

  return {
    store: {
      async find(jobId) {
        const row = find(jobId);
        return row ? shown(row) : null;
      },
      async list(modelId, page, order) {
        const ascending = rows
          .filter((row) => row.modelId === modelId)
          .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.jobId < b.jobId ? -1 : 1))
          .map((row) => ({ id: row.jobId, evaluation: shown(row), step: stepOf(row.jobId) }));
        const all = inOrder(ascending, order);
        const { rows: found, hasMore } = paginate(all, all, page);
        return { rows: found.map(({ evaluation, step }) => ({ evaluation, step })), hasMore };
      },
      async claim(_worker, nowMs, leaseMs, baseModels) {
        const isFree = ({ status, leaseUntilMs }: Claimable) =>
          status === 'queued' ||
          (status === 'running' && (leaseUntilMs <= nowMs || leaseUntilMs > nowMs + 3 * leaseMs));
        const next = rows
          .filter(isFree)
          .filter(({ jobId }) => baseModels.includes(baseModelOf(jobId) ?? ''))
          .sort(
            (a, b) =>
              lastClaim(a.entity) - lastClaim(b.entity) ||
              a.createdAtMs - b.createdAtMs ||
              (a.jobId < b.jobId ? -1 : 1),
          )[0];
        if (!next) return null;
        change(next.jobId, {
          status: 'running',
          attempt: next.attempt + 1,
          leaseUntilMs: nowMs + leaseMs,
          claimedAtMs: nowMs,
          startedAtMs: next.startedAtMs ?? nowMs,
        });
        return shown(find(next.jobId)!);
      },
      async renewLease(jobId, attempt, leaseUntilMs) {
        const row = running(jobId, attempt);
        if (!row) return 'lost';
        change(jobId, { leaseUntilMs });
        return row.cancelRequested ? 'cancelled' : 'kept';
      },
      async releaseLeases() {
        for (const { jobId, status } of rows) if (status === 'running') change(jobId, { leaseUntilMs: 0 });
      },
      async updateProgress(jobId, attempt, counts) {
        if (!running(jobId, attempt)) return false;
        change(jobId, counts);
        return true;
      },
      async finish(jobId, attempt, end) {
        if (!running(jobId, attempt)) return false;
        change(jobId, end);
        return true;
      },
      async requestCancel(jobId, nowMs) {
        const row = find(jobId);
        if (!row) return 'not_found';
        if (isEvaluated(row.status)) return 'already_finished';
        change(jobId, { cancelRequested: true });
        cancel(jobId, nowMs);
        return row.status === 'queued' ? 'cancelled' : 'cancelling';
      },
      listWithOldAnswers: async (endedBeforeMs, limit) =>
        rows
          .filter(({ isKept, endedAtMs }) => isKept && (endedAtMs ?? Infinity) < endedBeforeMs)
          .sort((a, b) => a.endedAtMs! - b.endedAtMs! || (a.jobId < b.jobId ? -1 : 1))
          .slice(0, limit)
          .map(shown),
      async forgetAnswers(jobId) {
        if (find(jobId)?.endedAtMs !== null) change(jobId, { isKept: false });
      },
    },
    add({ id, modelId, entity, keyId, createdAtMs, evaluation }) {
      if (!evaluation) return;
      rows.push({
        jobId: id,
        modelId,
        entity,
        keyId,
        status: 'queued',
        attempt: 0,
        cancelRequested: false,
        ...evaluation,
        answeredCount: 0,
        failedCount: 0,
        isKept: true,
        errorMessage: null,
        createdAtMs,
        startedAtMs: null,
        endedAtMs: null,
        leaseUntilMs: 0,
        claimedAtMs: 0,
      });
    },
    cancel,
    removeJobs: (jobIds) => void (rows = rows.filter(({ jobId }) => !jobIds.includes(jobId))),
    unfinishedSteps: (modelId) =>
      rows
        .filter((row) => row.modelId === modelId && row.endedAtMs === null)
        .flatMap(({ jobId }) => stepOf(jobId) ?? []),
  };
}
