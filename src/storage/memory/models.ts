// The slow, simple reference for sql/models.ts.
import type { Model } from '#domain/model';
import { inOrder, paginate } from './page.ts';
import { asJson, refuseSecond, type MemoryTables } from './tables.ts';
import type { ModelStore } from '../storage.ts';

/** `removeModel` deletes the model's rows in other stores, `removeJobs` the rows of its jobs. */
export function createMemoryModels(
  tables: MemoryTables,
  removeModel: (id: string) => void,
  removeJobs: (ids: readonly string[]) => void,
): ModelStore {
  const byActivity = (a: Model, b: Model) => activeAtMs(a) - activeAtMs(b);
  const activeAtMs = ({ id, createdAtMs }: Model) =>
    Math.max(
      createdAtMs,
      ...tables.jobs.filter((job) => job.modelId === id).map((job) => Math.max(job.createdAtMs, job.endedAtMs ?? 0)),
    );
  return {
    async create(model, stepZero, savePolicy = null) {
      const existing = tables.models.find(
        (m) => m.entity === model.entity && m.project === model.project && m.name === model.name,
      );
      if (existing) return { outcome: 'exists', model: existing };
      refuseSecond(tables.models, model);
      refuseSecond(tables.checkpoints, stepZero);
      tables.models.push(model);
      tables.lastSteps.set(model.id, stepZero.step);
      tables.checkpoints.push(asJson(stepZero));
      if (savePolicy) tables.savePolicies.set(model.id, savePolicy);
      return { outcome: 'created', model };
    },
    async find(id) {
      return tables.models.find((m) => m.id === id) ?? null;
    },
    findSavePolicy: async (id) => tables.savePolicies.get(id) ?? null,
    async setSavePolicy(id, policy) {
      tables.savePolicies.delete(id);
      if (policy && tables.models.some((m) => m.id === id)) tables.savePolicies.set(id, policy);
    },
    async findByName(entity, project, name) {
      return tables.models.find((m) => m.entity === entity && m.project === project && m.name === name) ?? null;
    },
    async list(filter, page, order = 'asc') {
      const ordered = order === 'latest' ? tables.models.toSorted(byActivity).reverse() : inOrder(tables.models, order);
      const all = ordered.filter((m) => m.entity === filter.entity);
      const matching = all.filter(
        (m) =>
          m.project === (filter.project ?? m.project) &&
          m.name === (filter.name ?? m.name) &&
          m.baseModel === (filter.baseModel ?? m.baseModel) &&
          `${m.project}/${m.name}`.toLowerCase().includes((filter.search ?? '').toLowerCase()),
      );
      return paginate(all, matching, page);
    },
    async delete(id) {
      if (!tables.models.some((m) => m.id === id)) return null;
      const gone = tables.checkpoints.filter((c) => c.modelId === id).sort((a, b) => a.step - b.step);
      const goneJobs = tables.jobs.filter((job) => job.modelId === id);
      tables.models = tables.models.filter((m) => m.id !== id);
      removeModel(id);
      removeJobs(goneJobs.map((job) => job.id));
      tables.checkpoints = tables.checkpoints.filter((c) => c.modelId !== id);
      tables.jobs = tables.jobs.filter((job) => job.modelId !== id);
      tables.events = tables.events.filter((event) => !goneJobs.some((job) => job.id === event.jobId));
      return { checkpoints: gone, bodyBlobs: goneJobs.flatMap(({ bodyBlob }) => bodyBlob || []) };
    },
  };
}
