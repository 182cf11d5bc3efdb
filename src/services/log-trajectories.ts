// Logged trajectories: their averages become metrics of the model's latest checkpoint (`split/reward`, …), so that a later
// clean-up can tell which checkpoint was best.
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { TrajectoryGroup } from '#domain/trajectory';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { groupMetrics } from '#training/rl-metrics';
import type { AccountLimits } from './account-limits.ts';
import { getOwnModel } from './own-model.ts';
import { writeGroups } from './stored-groups.ts';

export interface LoggedTrajectories {
  readonly split: string;
  readonly groups: readonly TrajectoryGroup[];
}

export type LogTrajectories = (
  caller: Caller,
  modelId: string,
  logged: LoggedTrajectories,
  id: string,
) => Promise<{ step: number; metrics: Record<string, number> }>;

export interface LogTrajectoriesDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly limits: Pick<AccountLimits, 'bytesLeft' | 'charge'>;
}

export function createLogTrajectories({ storage, blobs, limits }: LogTrajectoriesDeps): LogTrajectories {
  return async (caller, modelId, { split, groups }, id) => {
    await getOwnModel(storage, caller, modelId);
    const checkpoint = await storage.checkpoints.findLatest(modelId);
    if (!checkpoint)
      throw new AppError('checkpoint_not_found', `Model ${modelId} has no checkpoint to attach metrics to.`);
    await limits.bytesLeft(caller);
    const metrics = Object.fromEntries(
      Object.entries(groupMetrics(groups)).map(([name, value]) => [`${split}/${name}`, value]),
    );
    const blob = `logs/${modelId}/${id}.jsonl`;
    const { sizeBytes } = await writeGroups(blobs, blob, { step: checkpoint.step, split }, groups);
    await limits.charge(caller, blob, sizeBytes);
    await storage.checkpoints.mergeMetrics(checkpoint.id, metrics);
    return { step: checkpoint.step, metrics };
  };
}
