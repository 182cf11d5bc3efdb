// The rows that models, checkpoints, jobs and events share in memory: deleting a model deletes its jobs, ending a job creates a
// checkpoint.
import { invariant } from '#base/invariant';
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import type { SavePolicy } from '#domain/save-policy';
import type { TrainingEvent, TrainingJob } from '#domain/training-job';
import type { KlReference } from '#domain/trajectory';

export interface ClaimableJob extends TrainingJob {
  worker: string | null;
  leaseUntilMs: number;
  claimedAtMs: number;
  klReference?: KlReference;
}

export interface MemoryTables {
  models: Model[];
  checkpoints: Checkpoint[];
  jobs: ClaimableJob[];
  events: TrainingEvent[];
  /** By model: the highest step that it ever had. */
  readonly lastSteps: Map<string, number>;
  /** By checkpoint. */
  readonly notes: Map<string, Readonly<Record<string, unknown>>>;
  /** By checkpoint: when its files were last about to be read. */
  readonly uses: Map<string, number>;
  /** By model. */
  readonly savePolicies: Map<string, SavePolicy>;
}

export const createMemoryTables = (): MemoryTables => ({
  models: [],
  checkpoints: [],
  jobs: [],
  events: [],
  lastSteps: new Map(),
  notes: new Map(),
  uses: new Map(),
  savePolicies: new Map(),
});

/** What a database returns: JSON, so a number that is not finite becomes null. */
export const asJson = <T>(row: T): T => JSON.parse(JSON.stringify(row)) as T;

export function refuseSecond(rows: readonly { id: string }[], { id }: { id: string }): void {
  invariant(!rows.some((row) => row.id === id), `there is a row with the id ${id} already`);
}
