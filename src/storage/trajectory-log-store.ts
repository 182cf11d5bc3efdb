// Trajectories logged for models. Part of storage.ts; rows are deleted with their model.
import type { Listing, Page } from '#domain/page';
import type { TrajectoryLog } from '#domain/trajectory-log';

export interface TrajectoryLogStore {
  /** Once per id; an existing row is not changed. Throws if the model was deleted. */
  create(log: TrajectoryLog): Promise<void>;
  find(id: string): Promise<TrajectoryLog | null>;
  /** By time, oldest first. */
  list(filter: { modelId: string; split?: string; step?: number }, page: Page): Promise<Listing<TrajectoryLog>>;
  /** The latest log with rewards for the answers of this job's evaluation. */
  findOfEvaluation(jobId: string): Promise<TrajectoryLog | null>;
  /** Of all models, oldest first. */
  listBefore(createdBeforeMs: number, limit: number): Promise<readonly TrajectoryLog[]>;
  /** Idempotent. */
  delete(id: string): Promise<void>;
}
