// One request of logged trajectories: what was evaluated, at which step of which model. The trajectories are in a blob.

export interface TrajectoryLog {
  readonly id: string; // uuid
  readonly modelId: string;
  /** `val`, `test`, …: what the client calls it. */
  readonly split: string;
  /** The one that they say, else the latest checkpoint when they were logged. */
  readonly step: number;
  readonly blob: string;
  readonly groupCount: number;
  readonly trajectoryCount: number;
  readonly sizeBytes: number;
  readonly createdAtMs: number;
  /** They give rewards to the answers of this job's evaluation: a group per prompt. Null: they are trajectories of their own. */
  readonly evaluationJobId: string | null;
}
