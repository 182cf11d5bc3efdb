// A user's model: a name for a line of checkpoints trained from one base model. Base models are frozen weights.

export interface Model {
  readonly id: string; // uuid
  readonly entity: string;
  readonly project: string;
  readonly name: string; // unique within entity/project
  readonly baseModel: string;
  readonly runId: string | null;
  readonly createdAtMs: number;
}
