// One request to log trajectories: what was evaluated, at which step of which model. The trajectories are in a blob.

export interface TrajectoryLog {
  readonly id: string; // uuid
  readonly modelId: string;
  /** `val`, `test`, …: the client's name for it. */
  readonly split: string;
  /** The step that the trajectories name, otherwise the latest checkpoint when they were logged. */
  readonly step: number;
  readonly blob: string;
  readonly groupCount: number;
  readonly trajectoryCount: number;
  readonly sizeBytes: number;
  readonly createdAtMs: number;
  /** The job whose evaluation answers get these rewards, one group per prompt. Null: the trajectories stand for themselves. */
  readonly evaluationJobId: string | null;
}
