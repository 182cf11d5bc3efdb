// Logged trajectories of a model, for its owner: the list of log requests, and their trajectories.
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Listing, Page } from '#domain/page';
import type { TrajectoryLog } from '#domain/trajectory-log';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { getOwnModel } from '../../models/own-model.ts';
import {
  listGroups,
  listTrajectories,
  streamTrajectories,
  type GroupSource,
  type GroupSummary,
  type PlacedTrajectory,
  type ReadTrajectory,
} from './group-pages.ts';
import { streamSummaries, type TrajectorySummary } from './trajectory-summaries.ts';

export interface LogFilter {
  readonly split?: string;
  readonly step?: number;
}

export interface LoggedTrajectories {
  /** Throws `model_not_found`, as all of these do for another entity's model. */
  list(caller: Caller, modelId: string, filter: LogFilter, page: Page): Promise<Listing<TrajectoryLog>>;
  /** Throws `not_found`, as the next ones do, if the model has no such log or it was deleted. */
  listGroups(caller: Caller, modelId: string, id: string, page: Page): Promise<Listing<GroupSummary>>;
  listTrajectories(
    caller: Caller,
    modelId: string,
    id: string,
    group: number,
    page: Page,
  ): Promise<Listing<ReadTrajectory>>;
  /** With `search`: those that contain it. */
  streamTrajectories(
    caller: Caller,
    modelId: string,
    id: string,
    search: string | null,
  ): Promise<AsyncIterable<PlacedTrajectory>>;
  streamSummaries(
    caller: Caller,
    modelId: string,
    id: string,
    search: string | null,
  ): Promise<AsyncIterable<TrajectorySummary>>;
}

export interface LoggedTrajectoriesDeps {
  readonly storage: Storage;
  readonly blobs: Pick<BlobStore, 'stream'>;
}

export function createLoggedTrajectories({ storage, blobs }: LoggedTrajectoriesDeps): LoggedTrajectories {
  async function source(caller: Caller, modelId: string, id: string): Promise<GroupSource> {
    await getOwnModel(storage, caller, modelId);
    const log = await storage.trajectoryLogs.find(id);
    const content = log?.modelId === modelId ? await blobs.stream(log.blob) : null;
    if (log && content) return { name: log.blob, content, scaleRewards: null };
    throw new AppError(
      'not_found',
      `Model ${modelId} has no log ${id}, or it was deleted. List its logs to see which exist.`,
    );
  }
  return {
    async list(caller, modelId, filter, page) {
      await getOwnModel(storage, caller, modelId);
      return storage.trajectoryLogs.list({ ...filter, modelId }, page);
    },
    listGroups: async (caller, modelId, id, page) => listGroups(await source(caller, modelId, id), page),
    listTrajectories: async (caller, modelId, id, group, page) =>
      listTrajectories(await source(caller, modelId, id), group, page),
    streamTrajectories: async (caller, modelId, id, search) =>
      streamTrajectories(await source(caller, modelId, id), search),
    streamSummaries: async (caller, modelId, id, search) => streamSummaries(await source(caller, modelId, id), search),
  };
}
