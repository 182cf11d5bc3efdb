// The slow, plain twin of storage/sql: arrays and maps. It defines what the SQL stores must answer to the operations of
// storage-operations.ts, and knows no other operation.
import { isFinished } from '#domain/training-job';
import { inventoriedEpisode } from '#storage/inventory';
import { createAccounts } from './accounts.ts';
import { createCheckpoints } from './checkpoints.ts';
import { createEpisodes } from './episodes.ts';
import { createEvents } from './events.ts';
import { createIdempotency } from './idempotency.ts';
import { createJobs } from './jobs.ts';
import { createModels } from './models.ts';
import { createTables } from './tables.ts';
import type { TestedStorage } from './tested-storage.ts';
import { createUsage } from './usage.ts';

export function createPlainStorage(): TestedStorage {
  const tables = createTables();
  const accounts = createAccounts();
  const episodes = createEpisodes(
    accounts,
    (id) => tables.models.some((model) => model.id === id),
    (jobId) => tables.jobs.some(({ id, status }) => id === jobId && !isFinished(status)),
  );
  return {
    models: createModels(tables, (id) => episodes.removeModel(id)),
    checkpoints: createCheckpoints(tables),
    jobs: createJobs(tables, episodes),
    events: createEvents(tables),
    usage: createUsage(),
    idempotency: createIdempotency(),
    accounts,
    episodes: episodes.store,
    inventory: {
      async *episodes() {
        const { episodes: all, episodeCalls } = episodes.rows();
        for (const episode of all.toSorted(byId)) {
          const own = episodeCalls.filter(({ episodeId }) => episodeId === episode.id);
          const bytes = own.reduce((sum, { tokens, content }) => sum + tokens.length + content.length, 0);
          yield inventoriedEpisode(episode, own.length, bytes);
        }
      },
      async *storedBlobs() {
        yield* accounts.blobs().toSorted((a, b) => (a.blob < b.blob ? -1 : 1));
      },
    },
  };
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);
