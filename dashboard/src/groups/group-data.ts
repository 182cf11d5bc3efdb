// Loads one group of a job, or of what was logged for a model, and its trajectories one at a time, because a group may be larger than
// a page should load at once. The two kinds differ in their place, and only jobs have tokens.
import { call, type Item } from '../api/client.ts';
import type { JobGroup } from '../api/wire.ts';

export type Trajectory = Item<'/v1/preview/training-jobs/{training_job_id}/groups/{group}/trajectories'>;
export type TrainedTokens = Item<'/v1/preview/training-jobs/{training_job_id}/groups/{group}/tokens'>;
export type TrainedSequence = TrainedTokens['sequences'][number];
/** A logged group lacks what training adds. */
export type Group = Omit<JobGroup, 'skipped'> & { readonly skipped?: JobGroup['skipped'] };

export interface PlacedGroup {
  readonly group: Group;
  readonly hasNext: boolean;
}

export interface GroupPlace {
  readonly key: string;
  loadGroup(signal: AbortSignal): Promise<PlacedGroup>;
  loadTrajectory(index: number, signal: AbortSignal): Promise<Trajectory>;
  /** Null: nothing was trained on these. */
  readonly loadTokens: ((index: number, signal: AbortSignal) => Promise<TrainedTokens>) | null;
  readonly hrefOf: (group: number, trajectory?: number) => string;
}

const JOB_GROUPS = '/v1/preview/training-jobs/{training_job_id}/groups';
const LOG_GROUPS = '/v1/preview/models/{model_id}/logs/{log_id}/groups';

/** The list page that contains only this item. */
const pageOf = (index: number) => ({ limit: 1, ...(index === 0 ? {} : { after: String(index - 1) }) });

export function jobGroup(jobId: string, group: number, hrefOf: GroupPlace['hrefOf']): GroupPlace {
  const path = { training_job_id: jobId, group };
  return {
    key: `${jobId}/${group}`,
    hrefOf,
    loadGroup: async (signal) => placed(await call('get', JOB_GROUPS, { path, query: pageOf(group), signal })),
    loadTrajectory: async (index, signal) =>
      only(await call('get', `${JOB_GROUPS}/{group}/trajectories`, { path, query: pageOf(index), signal })),
    loadTokens: async (index, signal) =>
      only(await call('get', `${JOB_GROUPS}/{group}/tokens`, { path, query: pageOf(index), signal })),
  };
}

export function loggedGroup(modelId: string, logId: string, group: number, hrefOf: GroupPlace['hrefOf']): GroupPlace {
  const path = { model_id: modelId, log_id: logId };
  return {
    key: `${logId}/${group}`,
    hrefOf,
    loadGroup: async (signal) => placed(await call('get', LOG_GROUPS, { path, query: pageOf(group), signal })),
    loadTrajectory: async (index, signal) => {
      const query = pageOf(index);
      return only(await call('get', `${LOG_GROUPS}/{group}/trajectories`, { path: { ...path, group }, query, signal }));
    },
    loadTokens: null,
  };
}

function only<T>({ data: [item] }: { readonly data: readonly T[] }): T {
  if (item !== undefined) return item;
  throw new Error('This group or trajectory does not exist. It may have been deleted.');
}

const placed = (page: { readonly data: readonly Group[]; readonly has_more: boolean }): PlacedGroup => ({
  group: only(page),
  hasNext: page.has_more,
});
