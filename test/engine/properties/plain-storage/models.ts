// The slow, simple reference for sql/models.ts.
import { paginate } from './page.ts';
import { asJson, refuseSecond, type Tables } from './tables.ts';
import type { TestedStorage } from './tested-storage.ts';

/** `removeModel` deletes the model's rows in other stores. */
export function createModels(tables: Tables, removeModel: (id: string) => void): TestedStorage['models'] {
  return {
    async create(model, stepZero) {
      const existing = tables.models.find(
        (m) => m.entity === model.entity && m.project === model.project && m.name === model.name,
      );
      if (existing) return { outcome: 'exists', model: existing };
      refuseSecond(tables.models, model);
      refuseSecond(tables.checkpoints, stepZero);
      tables.models.push(model);
      tables.lastSteps.set(model.id, stepZero.step);
      tables.checkpoints.push(asJson(stepZero));
      return { outcome: 'created', model };
    },
    async list({ entity }, page) {
      const all = tables.models.filter((m) => m.entity === entity);
      return paginate(all, all, page);
    },
    async delete(id) {
      if (!tables.models.some((m) => m.id === id)) return null;
      const gone = tables.checkpoints.filter((c) => c.modelId === id).sort((a, b) => a.step - b.step);
      const goneJobs = tables.jobs.filter((job) => job.modelId === id);
      tables.models = tables.models.filter((m) => m.id !== id);
      removeModel(id);
      tables.checkpoints = tables.checkpoints.filter((c) => c.modelId !== id);
      tables.jobs = tables.jobs.filter((job) => job.modelId !== id);
      tables.events = tables.events.filter((event) => !goneJobs.some((job) => job.id === event.jobId));
      return { checkpoints: gone, bodyBlobs: goneJobs.flatMap(({ bodyBlob }) => bodyBlob || []) };
    },
  };
}
