// What goes over the wire, under the wire's names: requests and answers of the training API.

export interface Model {
  readonly id: string;
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  readonly base_model: string;
  readonly run_id: string | null;
}

export interface Checkpoint {
  readonly id: string;
  readonly step: number;
  readonly metrics: Readonly<Record<string, number>>;
}

export type TrainingEvent = { readonly id: string } & (
  | { readonly type: 'training_started'; readonly data: { readonly num_sequences?: number } }
  | { readonly type: 'gradient_step'; readonly data: Readonly<Record<string, number>> }
  | { readonly type: 'training_ended'; readonly data: Readonly<Record<string, unknown>> }
  | { readonly type: 'training_failed'; readonly data: { readonly error_message?: string } }
);

export interface TrainingJob {
  readonly id: string;
  readonly type: 'rl' | 'sft';
  readonly model_id: string;
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  readonly created_at: string;
  readonly training_start: string | null;
  readonly training_end: string | null;
  readonly error_message: string | null;
  readonly progress: number;
  readonly step: number | null;
  readonly skipped: Readonly<Record<string, number>>;
}

export interface Trajectory {
  /** Messages are context; Choices of chat answers, as they came, are trained. */
  readonly messages_and_choices: readonly unknown[];
  readonly tools?: readonly unknown[] | null;
  readonly additional_histories?: readonly { readonly messages_and_choices: readonly unknown[] }[];
  readonly reward: number;
  readonly metrics?: Readonly<Record<string, number | boolean>>;
}

export interface TrajectoryGroup {
  readonly trajectories: readonly Trajectory[];
}

export interface RlJobRequest {
  readonly model_id: string;
  readonly trajectory_groups: readonly TrajectoryGroup[];
  readonly experimental_config?: Readonly<Record<string, unknown>> | null;
}

export interface ChatRequest {
  readonly model?: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly [field: string]: unknown;
}

export interface ChatCompletion {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: { readonly role: 'assistant'; readonly content: string | null };
    readonly finish_reason: string | null;
  }[];
}

export interface Page<T> {
  readonly object: 'list';
  readonly data: readonly T[];
  readonly first_id: string;
  readonly last_id: string;
  readonly has_more: boolean;
}

export interface SftJobRequest {
  readonly model_id: string;
  /** `wandb-artifact:///entity/project/name:version` */
  readonly training_data_url: string;
  readonly config?: {
    readonly batch_size?: number | 'auto' | null;
    readonly learning_rate?: number | readonly number[] | null;
    readonly assistant_turns?: 'all' | 'last' | null;
    readonly validation_split?: number | null;
  } | null;
}

export interface ArtifactFile {
  readonly path: string;
  readonly size_bytes: number;
  readonly sha256: string;
}

/** A version. */
export interface Artifact {
  readonly id: string;
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  /** `v3`, `step3` of a model. */
  readonly version: string;
  readonly uri: string;
  readonly type: string;
  readonly aliases: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly files: readonly ArtifactFile[];
  readonly size_bytes: number;
  readonly created_at: string;
}

export interface ArtifactManifest {
  readonly type?: string;
  readonly aliases?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
}
