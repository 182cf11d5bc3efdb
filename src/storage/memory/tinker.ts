// The slow, simple reference for sql/tinker.ts.
import { invariant } from '#base/invariant';
import type { TinkerCheckpoint, TinkerOperation, TinkerRun, TinkerSampler, TinkerSession } from '#domain/tinker';
import type { Slice, Sliced, TinkerStore } from '../tinker-store.ts';

interface Claimable extends TinkerRun {
  readonly leaseUntilMs: number;
  readonly claimedAtMs: number;
}

export interface MemoryTinker {
  readonly store: TinkerStore;
  /** With its runs, and all that is theirs. */
  removeModel(modelId: string): void;
  /** Of a model: those that something of theirs names. */
  stepsOf(modelId: string): readonly number[];
}

export function createMemoryTinker(hasModel: (id: string) => boolean): MemoryTinker {
  let sessions: TinkerSession[] = [];
  let runs: Claimable[] = [];
  let operations: TinkerOperation[] = [];
  /** By run and number. */
  const readings = new Map<string, number>();
  let samplers: TinkerSampler[] = [];
  let checkpoints: TinkerCheckpoint[] = [];

  const shown = ({ leaseUntilMs: _l, claimedAtMs: _c, ...run }: Claimable): TinkerRun => run;
  const changeRun = (id: string, change: Partial<Claimable>) =>
    void (runs = runs.map((run) => (run.id === id ? { ...run, ...change } : run)));
  const changeSession = (id: string, change: (session: TinkerSession) => Partial<TinkerSession>) =>
    void (sessions = sessions.map((each) => (each.id === id ? { ...each, ...change(each) } : each)));
  const isHeld = ({ id, attempt }: { id: string; attempt: number }) =>
    runs.some((run) => run.id === id && run.attempt === attempt);
  const ofRun = (runId: string) => operations.filter((each) => each.runId === runId).sort((a, b) => a.seq - b.seq);
  const isNamed = (runId: string, kind: string, name: string) => (each: TinkerCheckpoint) =>
    each.runId === runId && each.kind === kind && each.name === name;
  const byAge = (a: { createdAtMs: number; id: string }, b: { createdAtMs: number; id: string }) =>
    a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);

  const store: TinkerStore = {
    async createSession(session) {
      invariant(!sessions.some(({ id }) => id === session.id), `two sessions ${session.id}`);
      sessions.push(session);
    },
    findSession: async (id) => sessions.find((each) => each.id === id) ?? null,
    touchSession: async (id, nowMs) => changeSession(id, ({ seenAtMs }) => ({ seenAtMs: Math.max(seenAtMs, nowMs) })),
    endSession: async (id, nowMs) => changeSession(id, ({ endedAtMs }) => ({ endedAtMs: endedAtMs ?? nowMs })),
    listSessions: async (entity, slice) =>
      newestFirst(
        sessions.filter((each) => each.entity === entity),
        slice,
      ),

    async createRun(run) {
      const existing = runs.find(({ id }) => id === run.id);
      if (existing) return shown(existing);
      invariant(hasModel(run.modelId), `a run of the model ${run.modelId}, which is gone`);
      runs.push({ ...run, leaseUntilMs: 0, claimedAtMs: 0 });
      return run;
    },
    async findRun(id) {
      const run = runs.find((each) => each.id === id);
      return run ? shown(run) : null;
    },
    async listRuns(entity, scope, slice) {
      const published = new Set(checkpoints.filter(isPublic).map(({ runId }) => runId));
      const isShown = ({ id, entity: own }: TinkerRun) =>
        own === entity || (scope === 'accessible' && published.has(id));
      return newestFirst(runs.filter(isShown).map(shown), slice);
    },
    listRunsOf: async (sessionId) =>
      runs
        .filter((each) => each.sessionId === sessionId)
        .sort(byAge)
        .map(shown),
    async claimRun(_worker, { nowMs, leaseMs, gapMs }, baseModels) {
      const isFree = ({ leaseUntilMs }: Claimable) => leaseUntilMs <= nowMs || leaseUntilMs > nowMs + 3 * leaseMs;
      const hasWork = ({ id, doneSeq }: Claimable) =>
        ofRun(id).some(
          ({ status, seq, createdAtMs }) =>
            status === 'queued' && (seq === doneSeq + 1 || createdAtMs <= nowMs - gapMs),
        );
      const next = runs
        .filter((run) => isFree(run) && baseModels.includes(run.baseModel) && hasWork(run))
        .sort((a, b) => a.claimedAtMs - b.claimedAtMs || (a.id < b.id ? -1 : 1))[0];
      if (!next) return null;
      changeRun(next.id, { attempt: next.attempt + 1, leaseUntilMs: nowMs + leaseMs, claimedAtMs: nowMs });
      return shown(runs.find(({ id }) => id === next.id)!);
    },
    async renewRun(run, leaseUntilMs) {
      if (!isHeld(run)) return false;
      changeRun(run.id, { leaseUntilMs });
      return true;
    },
    async releaseRuns() {
      for (const { id } of runs) changeRun(id, { leaseUntilMs: 0 });
    },
    async saveState(run, state) {
      if (!isHeld(run)) return false;
      changeRun(run.id, state);
      return true;
    },

    async addOperation(operation) {
      const existing = operations.find((each) => each.runId === operation.runId && each.seq === operation.seq);
      if (existing) return { outcome: 'exists', operation: existing };
      invariant(
        runs.some(({ id }) => id === operation.runId),
        `an operation of the run ${operation.runId}, which is gone`,
      );
      operations.push(operation);
      changeRun(operation.runId, { usedAtMs: operation.createdAtMs });
      return { outcome: 'added', operation };
    },
    findOperation: async (runId, seq) => ofRun(runId).find((each) => each.seq === seq) ?? null,
    listOperations: async (runId, seq, limit) => ofRun(runId).filter((each) => each.seq > seq).slice(0, limit), // prettier-ignore
    countQueued: async (runId) => ofRun(runId).filter(({ status }) => status === 'queued').length,
    async finishOperation(run, seq, end) {
      if (!isHeld(run)) return false;
      changeRun(run.id, { doneSeq: seq });
      operations = operations.map((each) =>
        each.runId === run.id && each.seq === seq
          ? { ...each, ...end, status: end.error === null ? 'done' : 'failed' }
          : each,
      );
      return true;
    },
    async beginReading(run, seq) {
      if (!isHeld(run)) return 0;
      const count = (readings.get(`${run.id}/${seq}`) ?? 0) + 1;
      readings.set(`${run.id}/${seq}`, count);
      return count;
    },
    endReading: async ({ id }, seq) => void readings.delete(`${id}/${seq}`),
    async forgetOperations(runId, beforeSeq) {
      operations = operations.filter((each) => each.runId !== runId || each.seq >= beforeSeq);
    },

    async createSampler(sampler) {
      const { sessionId, ordinal } = sampler;
      const existing = samplers.find((each) => each.sessionId === sessionId && each.ordinal === ordinal);
      if (existing) return existing;
      samplers.push(sampler);
      return sampler;
    },
    findSampler: async (id) => samplers.find((each) => each.id === id) ?? null,
    listSamplersOf: async (sessionId) =>
      samplers.filter((each) => each.sessionId === sessionId).sort((a, b) => a.ordinal - b.ordinal),
    async deleteSampler(id) {
      samplers = samplers.filter((each) => each.id !== id);
    },

    async putCheckpoint(checkpoint) {
      const { runId, kind, name } = checkpoint;
      const old = checkpoints.find(isNamed(runId, kind, name)) ?? null;
      checkpoints = [...checkpoints.filter((each) => each !== old), checkpoint];
      return old;
    },
    findCheckpoint: async (runId, kind, name) => checkpoints.find(isNamed(runId, kind, name)) ?? null,
    listCheckpoints: async ({ entity, runId, isPublished }, slice) =>
      newestFirst(
        checkpoints.filter(
          (each) =>
            (entity === undefined || each.entity === entity) &&
            (runId === undefined || each.runId === runId) &&
            (!isPublished || isPublic(each)),
        ),
        slice,
      ),
    listExpired: async (nowMs, limit) =>
      checkpoints
        .filter(({ expiresAtMs }) => expiresAtMs !== null && expiresAtMs <= nowMs)
        .sort((a, b) => a.expiresAtMs! - b.expiresAtMs!)
        .slice(0, limit),
    async setExpiry({ runId, kind, name }, expiresAtMs) {
      const isIt = isNamed(runId, kind, name);
      checkpoints = checkpoints.map((each) => (isIt(each) ? { ...each, expiresAtMs } : each));
    },
    async setPublished({ runId, kind, name }, publishedAtMs) {
      const isIt = isNamed(runId, kind, name);
      checkpoints = checkpoints.map((each) => (isIt(each) ? { ...each, publishedAtMs } : each));
    },
    async deleteCheckpoint(runId, kind, name) {
      const isIt = isNamed(runId, kind, name);
      checkpoints = checkpoints.filter((each) => !isIt(each));
    },
  };

  return {
    store,
    stepsOf: (modelId) =>
      [...samplers, ...checkpoints].filter((each) => each.modelId === modelId).flatMap(({ step }) => step ?? []),
    removeModel(modelId) {
      const gone = new Set(runs.filter((run) => run.modelId === modelId).map(({ id }) => id));
      runs = runs.filter(({ id }) => !gone.has(id));
      operations = operations.filter(({ runId }) => !gone.has(runId));
      checkpoints = checkpoints.filter(({ runId }) => !gone.has(runId));
      samplers = samplers.filter((each) => each.modelId !== modelId);
    },
  };
}

const isPublic = ({ publishedAtMs }: TinkerCheckpoint): boolean => publishedAtMs !== null;

function newestFirst<T extends { readonly createdAtMs: number }>(
  all: readonly T[],
  { offset, limit }: Slice,
): Sliced<T> {
  const ordered = [...all].sort((a, b) => b.createdAtMs - a.createdAtMs);
  return { rows: ordered.slice(offset, offset + limit), total: all.length };
}
