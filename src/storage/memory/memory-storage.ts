// The slow, simple reference for sql/: arrays and maps, nothing survives. It defines what the contract suite means, and gives tests
// a storage without a disk.
import { isFinished } from '#domain/training-job';
import { createMemoryAccounts } from './accounts.ts';
import { createMemoryApiKeys } from './api-keys.ts';
import { createMemoryArtifacts } from './artifacts.ts';
import { createMemoryCheckpoints } from './checkpoints.ts';
import { createMemoryEpisodes } from './episodes.ts';
import { createMemoryEvaluations } from './evaluations.ts';
import { createMemoryEvents } from './events.ts';
import { createMemoryIdempotency } from './idempotency.ts';
import { createMemoryInventory } from './inventory.ts';
import { createMemoryJobs } from './jobs.ts';
import { createMemoryModels } from './models.ts';
import { createMemoryResponses } from './responses.ts';
import { createMemoryRuns } from './runs.ts';
import { createMemoryTables } from './tables.ts';
import { createMemoryTinker } from './tinker.ts';
import { createMemoryTrajectoryLogs } from './trajectory-logs.ts';
import { createMemoryUsage } from './usage.ts';
import { createMemoryWebhooks } from './webhooks.ts';
import type { Storage } from '../storage.ts';

export function createMemoryStorage(): Storage {
  const tables = createMemoryTables();
  const isModel = (id: string) => tables.models.some((model) => model.id === id);
  const webhooks = createMemoryWebhooks();
  const logs = createMemoryTrajectoryLogs(isModel);
  const evaluations = createMemoryEvaluations(
    (jobId) => {
      const job = tables.jobs.find(({ id, status }) => id === jobId && status === 'succeeded');
      return tables.models.find(({ id }) => id === job?.modelId)?.baseModel ?? null;
    },
    (jobId) => tables.jobs.find(({ id }) => id === jobId)?.step ?? null,
  );
  const responses = createMemoryResponses();
  const tinker = createMemoryTinker(isModel);
  const accounts = createMemoryAccounts();
  const episodes = createMemoryEpisodes(
    accounts,
    isModel,
    (jobId) => tables.jobs.some(({ id, status }) => id === jobId && !isFinished(status)),
    (episode, completed, nowMs) => webhooks.enqueueOfEpisode(episode, completed, nowMs),
  );
  const artifacts = createMemoryArtifacts(accounts, () => tables.models);

  function removeModel(id: string): void {
    logs.removeModel(id);
    tinker.removeModel(id);
    episodes.removeModel(id);
  }

  return {
    apiKeys: createMemoryApiKeys(),
    models: createMemoryModels(tables, removeModel, (ids) => evaluations.removeJobs(ids)),
    checkpoints: createMemoryCheckpoints(tables, (modelId) => [
      ...evaluations.unfinishedSteps(modelId),
      ...tinker.stepsOf(modelId),
    ]),
    jobs: createMemoryJobs(tables, evaluations, episodes, (job, nowMs) => webhooks.enqueue(job, nowMs)),
    events: createMemoryEvents(tables),
    artifacts,
    accounts,
    inventory: createMemoryInventory(() => ({
      ...tables,
      contents: artifacts.contents(),
      blobs: accounts.blobs(),
      responses: responses.rows(),
      ...episodes.rows(),
    })),
    webhooks: webhooks.store,
    trajectoryLogs: logs.store,
    evaluations: evaluations.store,
    episodes: episodes.store,
    responses: responses.store,
    tinker: tinker.store,
    runs: createMemoryRuns(accounts),
    idempotency: createMemoryIdempotency(),
    usage: createMemoryUsage(),

    async ping() {},
    async close() {},
  };
}
