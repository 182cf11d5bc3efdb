// The slow, simple reference for sql/inventory.ts.
import type { ArtifactContent } from '#domain/artifact';
import type { Checkpoint } from '#domain/checkpoint';
import type { Episode, StoredEpisodeCall } from '#domain/episode';
import type { Model } from '#domain/model';
import type { StoredResponse } from '#domain/stored-response';
import type { TrainingEvent, TrainingJob } from '#domain/training-job';
import type { StoredBlob } from '../account-store.ts';
import { inventoriedEpisode, type EventSummary, type Inventory } from '../inventory.ts';

export interface MemoryRows {
  readonly models: readonly Model[];
  readonly checkpoints: readonly Checkpoint[];
  readonly jobs: readonly TrainingJob[];
  readonly events: readonly TrainingEvent[];
  readonly contents: readonly ArtifactContent[];
  readonly blobs: readonly StoredBlob[];
  readonly responses: readonly StoredResponse[];
  readonly episodes: readonly Episode[];
  readonly episodeCalls: readonly StoredEpisodeCall[];
}

export function createMemoryInventory(rows: () => MemoryRows): Inventory {
  return {
    async *models() {
      for (const { id, entity, project, name } of rows().models.toSorted(by('id')))
        yield { id, name: `${entity}/${project}/${name}` };
    },
    async *checkpoints() {
      const { models, checkpoints } = rows();
      const sorted = checkpoints.toSorted((a, b) => by('modelId')(a, b) || a.step - b.step);
      for (const { id, modelId, step, blobPrefix } of sorted)
        yield { id, modelId, entity: models.find((model) => model.id === modelId)!.entity, step, blobPrefix };
    },
    async *jobs() {
      const { jobs, events } = rows();
      for (const { id, type, modelId, entity, keyId, status, bodyBlob } of jobs.toSorted(by('id'))) {
        const own = events.filter((event) => event.jobId === id);
        yield { id, type, modelId, entity, keyId, status, bodyBlob, events: summarize(own) };
      }
    },
    async *episodes() {
      const { episodes, episodeCalls } = rows();
      for (const episode of episodes.toSorted(by('id'))) {
        const own = episodeCalls.filter(({ episodeId }) => episodeId === episode.id);
        const bytes = own.reduce((sum, { tokens, content }) => sum + tokens.length + content.length, 0);
        yield inventoriedEpisode(episode, own.length, bytes);
      }
    },
    async *responses() {
      for (const { id, entity, keyId, blob } of rows().responses.toSorted(by('id'))) yield { id, entity, keyId, blob };
    },
    async *artifactContents() {
      yield* rows().contents.toSorted(by('blob'));
    },
    async *storedBlobs() {
      yield* rows().blobs.toSorted(by('blob'));
    },
  };
}

function summarize(events: readonly TrainingEvent[]): EventSummary {
  const ofType = (type: TrainingEvent['type']) => events.filter((event) => event.type === type);
  const [ended, failed] = [ofType('training_ended'), ofType('training_failed')];
  const last = (some: readonly TrainingEvent[]) =>
    some.length === 0 ? null : Math.max(...some.map(({ ordinal }) => ordinal));
  return {
    count: events.length,
    firstOrdinal: events.length === 0 ? null : Math.min(...events.map(({ ordinal }) => ordinal)),
    lastOrdinal: last(events),
    endedCount: ended.length,
    failedCount: failed.length,
    closingOrdinal: last([...ended, ...failed]),
  };
}

const by =
  <K extends string>(key: K) =>
  (a: Readonly<Record<K, string>>, b: Readonly<Record<K, string>>): number =>
    a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0;
