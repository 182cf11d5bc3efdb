// The slow, simple reference for sql/checkpoints.ts.
import { bySteps, paginate } from './page.ts';
import { asJson, type Tables } from './tables.ts';
import type { TestedStorage } from './tested-storage.ts';

export function createCheckpoints(tables: Tables): TestedStorage['checkpoints'] {
  return {
    async findLatest(modelId) {
      return bySteps(tables.checkpoints, modelId).at(-1) ?? null;
    },
    async list(modelId, page, order) {
      const ascending = bySteps(tables.checkpoints, modelId);
      const rows = order === 'asc' ? ascending : ascending.reverse();
      return paginate(rows, rows, page);
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
