// The rows that models, checkpoints, jobs and events share: deleting a model deletes its jobs, ending a job creates a checkpoint.
import { invariant } from '#base/invariant';
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import type { TrainingEvent, TrainingJob } from '#domain/training-job';

export interface ClaimableJob extends TrainingJob {
  worker: string | null;
  leaseUntilMs: number;
  claimedAtMs: number;
}

export interface Tables {
  models: Model[];
  checkpoints: Checkpoint[];
  jobs: ClaimableJob[];
  events: TrainingEvent[];
  /** By model: the highest step that it ever had. */
  readonly lastSteps: Map<string, number>;
}

export const createTables = (): Tables => ({
  models: [],
  checkpoints: [],
  jobs: [],
  events: [],
  lastSteps: new Map(),
});

/** What a database returns: JSON, so a number that is not finite becomes null. */
export const asJson = <T>(row: T): T => JSON.parse(JSON.stringify(row)) as T;

export function refuseSecond(rows: readonly { id: string }[], { id }: { id: string }): void {
  invariant(!rows.some((row) => row.id === id), `there is a row with the id ${id} already`);
}
