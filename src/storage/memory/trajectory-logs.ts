// The slow, simple reference for sql/trajectory-logs.ts, and the jobs whose stored data expires.
import { invariant } from '#base/invariant';
import type { TrainingJob } from '#domain/training-job';
import type { TrajectoryLog } from '#domain/trajectory-log';
import { paginate } from './page.ts';
import type { TrajectoryLogStore } from '../trajectory-log-store.ts';

export interface MemoryTrajectoryLogs {
  readonly store: TrajectoryLogStore;
  /** For models.ts. */
  removeModel(modelId: string): void;
}

export function createMemoryTrajectoryLogs(hasModel: (id: string) => boolean): MemoryTrajectoryLogs {
  let logs: TrajectoryLog[] = [];
  const byTime = () => logs.toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
  return {
    store: {
      async create(log) {
        invariant(hasModel(log.modelId), `a log of model ${log.modelId}, which is gone`);
        if (!logs.some(({ id }) => id === log.id)) logs.push(log);
      },
      find: async (id) => logs.find((log) => log.id === id) ?? null,
      async list({ modelId, split, step }, page) {
        const own = byTime().filter((log) => log.modelId === modelId);
        const matching = own.filter((log) => log.split === (split ?? log.split) && log.step === (step ?? log.step));
        return paginate(own, matching, page);
      },
      findOfEvaluation: async (jobId) => byTime().findLast((log) => log.evaluationJobId === jobId) ?? null,
      listBefore: async (createdBeforeMs, limit) =>
        byTime()
          .filter((log) => log.createdAtMs < createdBeforeMs)
          .slice(0, limit),
      async delete(id) {
        logs = logs.filter((log) => log.id !== id);
      },
    },
    removeModel: (modelId) => void (logs = logs.filter((log) => log.modelId !== modelId)),
  };
}

export const withOldBody = (jobs: readonly TrainingJob[], endedBeforeMs: number): readonly TrainingJob[] =>
  jobs
    .filter(({ type, bodyBlob, endedAtMs }) => type === 'rl' && bodyBlob && (endedAtMs ?? Infinity) < endedBeforeMs)
    .sort((a, b) => a.endedAtMs! - b.endedAtMs! || (a.id < b.id ? -1 : 1));
