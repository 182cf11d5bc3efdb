// What goes over the wire, under the wire's names: requests and answers of the training API.

export interface Model {
  readonly id: string;
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  readonly base_model: string;
  readonly run_id: string | null;
  /** Of the latest checkpoint. Where one model is read; not in lists. */
  readonly lora?: Required<Omit<LoraOptions, 'seed'>> | null;
  /** Which checkpoints stay; null: all do. Where one model is read; not in lists. */
  readonly save_policy?: Required<SavePolicy> | null;
}

/** Which checkpoints of a model stay when a job makes one, under the names of Transformers. */
export interface SavePolicy {
  /** The newest, the best, then the newest of the others. What is in use stays beside them. */
  readonly save_total_limit: number;
  /** A metric of checkpoints, such as `val/reward`; default: age alone counts. */
  readonly metric_for_best_model?: string | null;
  /** Default: false where the name of the metric ends with `loss`. */
  readonly greater_is_better?: boolean;
}

/** The adapter of a model to be made, under the names of PEFT's LoraConfig. */
export interface LoraOptions {
  /** Rank; default 8. */
  readonly r?: number;
  /** Scale: lora_alpha / r. Default 16. */
  readonly lora_alpha?: number;
  /** Names of linear layers, such as `q_proj`, and `lm_head`; default `all-linear`, which is without the head. */
  readonly target_modules?: 'all-linear' | readonly string[];
  /** Scale: lora_alpha / √r. */
  readonly use_rslora?: boolean;
  readonly seed?: number;
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
  readonly type: 'rl' | 'sft' | 'dpo';
  readonly model_id: string;
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';
  readonly created_at: string;
  readonly training_start: string | null;
  readonly training_end: string | null;
  readonly error_message: string | null;
  readonly progress: number;
  readonly step: number | null;
  readonly skipped: Readonly<Record<string, number>>;
  /** Where one job is read; not in lists. */
  readonly warnings?: readonly string[];
  /** Where one job is read; null: it named no prompts. */
  readonly evaluation?: Evaluation | null;
}

/** How far the answers of a job's checkpoint are. */
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
  /** Of the job. */
  readonly id: string;
  /** Of the checkpoint that answers; null until the job runs. */
  readonly step: number | null;
}

/** What a checkpoint answered to one prompt. */
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
        /** Of each token, nats. */
        readonly logprobs: readonly number[];
        /** Null: none was sent. */
        readonly reward: number | null;
      }[]
    | null;
}

/** Prompts that the checkpoint answers when it is made. */
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
  /** Messages are context; Choices of chat answers, as they came, are trained. */
  readonly messages_and_choices: readonly unknown[];
  readonly tools?: readonly unknown[] | null;
  readonly additional_histories?: readonly { readonly messages_and_choices: readonly unknown[] }[];
  readonly reward: number;
  readonly metrics?: Readonly<Record<string, number | boolean>>;
}

export interface TrajectoryGroup {
  readonly trajectories: readonly Trajectory[];
  /** Rollouts that failed: counted, never trained. */
  readonly exceptions?: readonly unknown[];
  /** For whoever looks at the group later. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface LogRequest {
  readonly split: string;
  readonly trajectory_groups: readonly TrajectoryGroup[];
  /** Default: the latest. */
  readonly step?: number;
  /** They give rewards to the answers of this job's evaluation: a group per prompt, a trajectory per answer. */
  readonly evaluation_job_id?: string;
}

export interface RlJobRequest {
  readonly model_id: string;
  readonly trajectory_groups: readonly TrajectoryGroup[];
  readonly experimental_config?: Readonly<Record<string, unknown>> | null;
  readonly evaluation?: EvaluationRequest | null;
}

/** Any field of the endpoint may stand beside these; the requests of the openai package fit as they are. */
export interface ChatRequest {
  readonly model?: string;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
}

/** Goes back as a message of the openai package, and as it is into a trajectory. */
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
    /** One number, or one per batch of all epochs; by default the server takes one that fits the model's size. */
    readonly learning_rate?: number | readonly number[] | null;
    readonly lr_scheduler_type?: 'constant' | 'linear' | 'cosine' | null;
    readonly warmup_steps?: number | null;
    readonly warmup_ratio?: number | null;
    readonly epochs?: number | null;
    readonly packing?: boolean | null;
    readonly assistant_turns?: 'all' | 'last' | null;
    readonly validation_split?: number | null;
    /** Gradient steps from one evaluation of the held-out rows to the next. */
    readonly eval_steps?: number | null;
    /** Evaluations without improvement after which the job ends, with a checkpoint. */
    readonly early_stopping_patience?: number | null;
    /** What an improvement must be more than. */
    readonly early_stopping_threshold?: number | null;
    /** The checkpoint has the weights of the best evaluation; by default where the job may end early. */
    readonly load_best_model_at_end?: boolean | null;
  } | null;
  readonly evaluation?: EvaluationRequest | null;
}

export interface DpoJobRequest {
  readonly model_id: string;
  /** As of SftJobRequest; a line is a preference pair. */
  readonly training_data_url: string;
  readonly config?:
    | (Omit<NonNullable<SftJobRequest['config']>, 'assistant_turns'> & {
        /** How near the policy stays to the checkpoint that the job begins with; default 0.1. */
        readonly beta?: number | null;
        readonly loss_type?: 'sigmoid' | 'robust' | 'hinge' | 'ipo' | null;
        /** Part of the pairs whose label is taken to be wrong. */
        readonly label_smoothing?: number | null;
        /** By which evaluations are compared; default `val/loss`. */
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

/** An engine that runs elsewhere. */
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
  /** Sampled. */
  readonly tokens: number;
  /** Of training. */
  readonly sessions: number;
  /** Choices that it computes at once; null where it does not sample. */
  readonly sequences_max: number | null;
  /** Choices. */
  readonly running: number;
  readonly waiting: number;
  /** Ids of checkpoints. */
  readonly adapters: readonly string[];
}

/** What a job trains with. */
export interface JobConfig {
  readonly config: Readonly<Record<string, unknown>>;
  /** False: the job has not begun. */
  readonly as_trained: boolean;
  readonly input: { readonly kind: 'groups' | 'artifact'; readonly path: string; readonly uri: string | null };
}

/** A group that a job was sent. */
export interface JobGroup {
  readonly id: string;
  readonly index: number;
  readonly prompt: string | null;
  readonly rewards: readonly number[];
  readonly advantages: readonly number[] | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly num_trajectories: number;
  readonly num_exceptions: number;
  /** By the reason why they were not trained; null: the job has not ended. */
  readonly skipped: Readonly<Record<string, number>> | null;
}

/** What training made of the tokens of one trajectory: an entry per token in each list. */
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
    readonly weight: number;
    readonly token_ids: readonly number[];
    readonly texts: readonly string[] | null;
    readonly trained: readonly boolean[];
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
