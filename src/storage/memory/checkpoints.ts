// The slow, simple reference for sql/checkpoints.ts.
import { bySteps, paginate } from './page.ts';
import { asJson, refuseSecond, type MemoryTables } from './tables.ts';
import type { CheckpointStore } from '../storage.ts';

/** `neededSteps`: steps of a model that other stores need. */
export function createMemoryCheckpoints(
  tables: MemoryTables,
  neededSteps: (modelId: string) => readonly number[],
): CheckpointStore {
  return {
    async find(modelId, step) {
      return tables.checkpoints.find((c) => c.modelId === modelId && c.step === step) ?? null;
    },
    async findLatest(modelId) {
      return bySteps(tables.checkpoints, modelId).at(-1) ?? null;
    },
    async list(modelId, page, order) {
      const ascending = bySteps(tables.checkpoints, modelId);
      const rows = order === 'asc' ? ascending : ascending.reverse();
      return paginate(rows, rows, page);
    },
    listLatest: async (modelIds, stepsMax) =>
      modelIds.flatMap((id) =>
        bySteps(tables.checkpoints, id).filter(({ step }) => step > (tables.lastSteps.get(id) ?? 0) - stepsMax),
      ),
    findById: async (id) => tables.checkpoints.find((c) => c.id === id) ?? null,
    count: async (modelId) => bySteps(tables.checkpoints, modelId).length,
    async setMetadata(id, metadata) {
      tables.notes.set(id, asJson(metadata));
    },
    findMetadata: async (id) => tables.notes.get(id) ?? {},
    async add(checkpoint, atLeastStep = 0) {
      const last = tables.lastSteps.get(checkpoint.modelId);
      if (last === undefined || !tables.models.some(({ id }) => id === checkpoint.modelId)) return null;
      const added = asJson({ ...checkpoint, step: Math.max(last + 1, atLeastStep) });
      refuseSecond(tables.checkpoints, added);
      tables.lastSteps.set(checkpoint.modelId, added.step);
      tables.checkpoints.push(added);
      return added;
    },
    async noteUse(id, usedAtMs) {
      tables.uses.set(id, Math.max(usedAtMs, tables.uses.get(id) ?? 0));
    },
    async listNeeded(modelId, usedSinceMs) {
      const used = tables.checkpoints.filter(
        (c) => c.modelId === modelId && (tables.uses.get(c.id) ?? 0) >= usedSinceMs,
      );
      return [...used.map(({ step }) => step), ...neededSteps(modelId)];
    },
    async mergeMetrics(id, metrics) {
      tables.checkpoints = tables.checkpoints.map((c) =>
        c.id === id ? { ...c, metrics: { ...c.metrics, ...asJson(metrics) } } : c,
      );
    },
    async delete(modelId, steps) {
      const requested = [...new Set(steps)];
      const deleted = bySteps(tables.checkpoints, modelId).filter((c) => requested.includes(c.step));
      tables.checkpoints = tables.checkpoints.filter((c) => !deleted.includes(c));
      return { deleted, notFoundSteps: requested.filter((step) => !deleted.some((c) => c.step === step)) };
    },
  };
}
