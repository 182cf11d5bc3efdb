// The types of the training API: requests and answers, with the names used on the wire.

export type TrainingEvent = { readonly id: string } & (
  | {
      readonly type: 'training_started';
      /** Both are the number of gradient steps; the second is its older name. */
      readonly data: { readonly num_gradient_steps?: number; readonly num_sequences?: number };
    }
  | { readonly type: 'gradient_step'; readonly data: Readonly<Record<string, number>> }
  | { readonly type: 'training_ended'; readonly data: Readonly<Record<string, unknown>> }
  | { readonly type: 'training_failed'; readonly data: { readonly error_message?: string } }
  | { readonly type: 'training_waiting'; readonly data: { readonly waiting_for: WaitingFor } }
);

/** What a job waits behind. */
export interface WaitingFor {
  /** `trainer`: none is ready. */
  readonly type: 'trainer' | 'job' | 'training_client';
  /** Null for another account's, and for a trainer. */
  readonly id: string | null;
  readonly message: string;
}

export interface TrainingJob {
  readonly id: string;
  readonly type: 'rl' | 'sft' | 'dpo';
  readonly model_id: string;
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  readonly created_at: string;
  readonly training_start: string | null;
  readonly training_end: string | null;
  readonly error_message: string | null;
  readonly progress: number;
  readonly step: number | null;
  /** Null: it does not wait, or has only just begun to. Servers before 0.3 do not say. */
  readonly waiting_for?: WaitingFor | null;
  readonly skipped: Readonly<Record<string, number>>;
  /** `project/name` of its model. Present, as the next three, in lists and when a single job is read. */
  readonly model_name?: string | null;
  /** Mean reward that it trained on; null: none. */
  readonly reward?: number | null;
  /** Loss of the gradient step whose weights the checkpoint of an SFT or DPO job has; null: none. */
  readonly loss?: number | null;
  /** From start to end; null: it has not ended. */
  readonly seconds?: number | null;
  /** Present when a single job is read, not in lists. */
  readonly warnings?: readonly string[];
  /** Present when a single job is read; null: it has no prompts. */
  readonly evaluation?: Evaluation | null;
}

/** The progress of the answers of a job's checkpoint. */
export interface Evaluation {
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  readonly num_prompts: number;
  /** Per prompt. */
  readonly num_samples: number;
  readonly num_answered: number;
  readonly num_failed: number;
  readonly error_message: string | null;
}

export interface ModelEvaluation extends Evaluation {
  /** The job's id. */
  readonly id: string;
  /** The step of the checkpoint that answers; null until the job runs. */
  readonly step: number | null;
}

/** The answers of a checkpoint to one prompt. */
export interface AnsweredPrompt {
  readonly id: string;
  readonly index: number;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly reference: { readonly content?: unknown } | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly error: string | null;
  /** Null: not yet answered. */
  readonly answers:
    | readonly {
        readonly index: number;
        readonly message: { readonly role: string; readonly content: string | null };
        readonly finish_reason: string;
        readonly token_ids: readonly number[];
        /** One per token, nats. */
        readonly logprobs: readonly number[];
        /** Null: no reward was logged. */
        readonly reward: number | null;
      }[]
    | null;
}

/** Prompts that the checkpoint answers after it is created. */
export interface EvaluationRequest {
  readonly prompts?: readonly unknown[];
  /** `wandb-artifact:///entity/project/name:version` */
  readonly prompts_url?: string;
  readonly samples?: number;
  readonly max_tokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  readonly [field: string]: unknown;
}

export interface Trajectory {
  /** Messages are context; choices, exactly as chat returned them, are trained. */
  readonly messages_and_choices: readonly unknown[];
  readonly tools?: readonly unknown[] | null;
  readonly additional_histories?: readonly { readonly messages_and_choices: readonly unknown[] }[];
  readonly reward: number;
  readonly metrics?: Readonly<Record<string, number | boolean>>;
}

export interface TrajectoryGroup {
  readonly trajectories: readonly Trajectory[];
  /** Failed rollouts: counted, never trained. */
  readonly exceptions?: readonly unknown[];
  /** Stored with the group. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface LogRequest {
  readonly split: string;
  readonly trajectory_groups: readonly TrajectoryGroup[];
  /** Default: the latest step. */
  readonly step?: number;
  /** The rewards are for the answers of this job's evaluation: one group per prompt, one trajectory per answer. */
  readonly evaluation_job_id?: string;
}

/** Of trajectory_groups and episode_groups, one is given. */
export interface RlJobRequest {
  readonly model_id: string;
  readonly trajectory_groups?: readonly TrajectoryGroup[] | null;
  /** Ids or names of rewarded episodes, in groups at the same task. */
  readonly episode_groups?: readonly (readonly string[])[] | null;
  readonly experimental_config?: Readonly<Record<string, unknown>> | null;
  readonly evaluation?: EvaluationRequest | null;
}

/** All other fields of the endpoint are accepted; requests of the openai package can be passed unchanged. */
export interface ChatRequest {
  readonly model?: string;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
}

/** Can be passed back as a message of the openai package, and unchanged into a trajectory. */
export interface ChatChoice {
  readonly index: number;
  readonly message: {
    readonly role: 'assistant';
    readonly content: string | null;
    readonly tool_calls?: {
      readonly id: string;
      readonly type: 'function';
      readonly function: { readonly name: string; readonly arguments: string };
    }[];
  };
  readonly logprobs: {
    readonly content: readonly { readonly token: string; readonly logprob: number }[] | null;
  } | null;
  readonly finish_reason: string | null;
}

export interface ChatCompletion {
  readonly id: string;
  readonly model: string;
  readonly choices: readonly ChatChoice[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
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
    /** One number, or one per batch of all epochs; by default the server chooses one for the model's size. */
    readonly learning_rate?: number | readonly number[] | null;
    readonly lr_scheduler_type?: 'constant' | 'linear' | 'cosine' | null;
    readonly warmup_steps?: number | null;
    readonly warmup_ratio?: number | null;
    readonly epochs?: number | null;
    readonly packing?: boolean | null;
    readonly assistant_turns?: 'all' | 'last' | null;
    readonly validation_split?: number | null;
    /** Gradient steps between evaluations of the held-out rows. */
    readonly eval_steps?: number | null;
    /** Evaluations without improvement after which the job ends, with a checkpoint. */
    readonly early_stopping_patience?: number | null;
    /** An improvement must be greater than this. */
    readonly early_stopping_threshold?: number | null;
    /** The checkpoint gets the weights of the best evaluation; the default if the job may end early. */
    readonly load_best_model_at_end?: boolean | null;
  } | null;
  readonly evaluation?: EvaluationRequest | null;
}

export interface DpoJobRequest {
  readonly model_id: string;
  /** As in SftJobRequest; a line is a preference pair. */
  readonly training_data_url: string;
  readonly config?:
    | (Omit<NonNullable<SftJobRequest['config']>, 'assistant_turns'> & {
        /** How close the policy stays to the checkpoint that the job starts from; default 0.1. */
        readonly beta?: number | null;
        readonly loss_type?: 'sigmoid' | 'robust' | 'hinge' | 'ipo' | null;
        /** Assumed fraction of pairs with a wrong label. */
        readonly label_smoothing?: number | null;
        /** The metric that compares evaluations; default `val/loss`. */
        readonly metric_for_best_model?: 'val/loss' | 'val/rewards/margins' | 'val/rewards/accuracies' | null;
      })
    | null;
  readonly evaluation?: EvaluationRequest | null;
}

export interface ArtifactFile {
  readonly path: string;
  readonly size_bytes: number;
  readonly sha256: string;
}

/** A version of an artifact. */
export interface Artifact {
  readonly id: string;
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  /** `v3`, or `step3` for a model. */
  readonly version: string;
  readonly uri: string;
  readonly type: string;
  readonly aliases: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly files: readonly ArtifactFile[];
  readonly size_bytes: number;
  readonly created_at: string;
}

/** Oldest first, unless `sort` or `order` says otherwise. */
export interface ArtifactsWanted {
  readonly project?: string;
  readonly name?: string;
  readonly type?: string;
  /** What the whole list is sorted by; default: when they were created. */
  readonly sort?: 'created' | 'project' | 'name' | 'type' | 'files' | 'size';
  readonly order?: 'asc' | 'desc';
}

export interface ArtifactManifest {
  readonly type?: string;
  readonly aliases?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
}

/** An engine on another machine. */
export interface Worker {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly base_model: string;
  readonly roles: readonly ('sample' | 'train')[];
  readonly state: 'connected' | 'away' | 'draining';
  readonly connected_at: string;
  readonly silent_seconds: number;
  readonly reconnects: number;
  /** Number of sampled tokens. */
  readonly tokens: number;
  /** Number of training sessions. */
  readonly sessions: number;
  /** How many choices it computes at once; null if it does not sample. */
  readonly sequences_max: number | null;
  /** Number of choices. */
  readonly running: number;
  readonly waiting: number;
  /** Ids of checkpoints. */
  readonly adapters: readonly string[];
}

/** The settings of a job. */
export interface JobConfig {
  readonly config: Readonly<Record<string, unknown>>;
  /** False: the job has not started. */
  readonly as_trained: boolean;
  readonly input: { readonly kind: 'groups' | 'artifact'; readonly path: string; readonly uri: string | null };
}

/** A group that was sent with a job. */
export interface JobGroup {
  readonly id: string;
  readonly index: number;
  readonly prompt: string | null;
  readonly rewards: readonly number[];
  readonly advantages: readonly number[] | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly num_trajectories: number;
  readonly num_exceptions: number;
  /** Counts by the reason why trajectories were not trained; null: the job has not ended. */
  readonly skipped: Readonly<Record<string, number>> | null;
}

/** How training read the tokens of one trajectory: each list has one entry per token. */
export interface TrajectoryTokens {
  readonly id: string;
  readonly index: number;
  readonly reward: number;
  readonly advantage: number | null;
  readonly is_trained: boolean | null;
  readonly reason: string | null;
  readonly sequences: readonly {
    readonly step: number;
    readonly advantage: number;
    readonly advantages: readonly (number | null)[] | null;
    readonly weight: number;
    readonly token_ids: readonly number[];
    readonly texts: readonly string[] | null;
    readonly trained: readonly boolean[];
    readonly policy_steps: readonly (number | null)[];
    readonly sampler_logprobs: readonly (number | null)[];
    readonly trainer_logprobs: readonly (number | null)[] | null;
    readonly ratios: readonly (number | null)[] | null;
  }[];
}

/** One step in the history of a model. */
export interface HistoryStep {
  readonly id: string;
  readonly step: number | null;
  readonly job_id: string | null;
  readonly status: TrainingJob['status'] | null;
  readonly seconds: number | null;
  readonly num_gradient_steps: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly skipped: Readonly<Record<string, number>>;
}
