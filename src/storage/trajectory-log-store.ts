// What was logged of models. Part of storage.ts; rows go with their model.
import type { Listing, Page } from '#domain/page';
import type { TrajectoryLog } from '#domain/trajectory-log';

export interface TrajectoryLogStore {
  /** Once per id; what is there stays. Throws when the model is gone. */
  create(log: TrajectoryLog): Promise<void>;
  find(id: string): Promise<TrajectoryLog | null>;
  /** By time, oldest first. */
  list(filter: { modelId: string; split?: string; step?: number }, page: Page): Promise<Listing<TrajectoryLog>>;
  /** The latest that gives rewards to the answers of this job's evaluation. */
  findOfEvaluation(jobId: string): Promise<TrajectoryLog | null>;
  /** Of every model, oldest first. */
  listBefore(createdBeforeMs: number, limit: number): Promise<readonly TrajectoryLog[]>;
  /** Idempotent. */
  delete(id: string): Promise<void>;
}
