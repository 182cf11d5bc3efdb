// The types of models and checkpoints: requests and answers, with the names used on the wire. Part of wire.ts.
import type { TrainingJob } from './wire.ts';

export interface Model {
  readonly id: string;
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  readonly base_model: string;
  readonly run_id: string | null;
  /** The adapter of the latest checkpoint. Present when a single model is read, not in lists. */
  readonly lora?: Required<Omit<LoraOptions, 'seed'>> | null;
  /** Which checkpoints are kept; null: all. Present when a single model is read, not in lists. */
  readonly save_policy?: Required<SavePolicy> | null;
  /** Tags, note and time of archiving are present when a single model is read, and in summaries. */
  readonly tags?: readonly string[];
  readonly note?: string | null;
  readonly archived_at?: string | null;
  /** Whether the server makes jobs from its episodes. Present when a single model is read. */
  readonly trained_online?: boolean;
}

/** A change; what is left out stays as it is. */
export interface ModelLabelsChange {
  /** All tags. */
  readonly tags?: readonly string[];
  readonly note?: string | null;
  /** Lists leave archived models out; they still answer and can be trained. */
  readonly archived?: boolean;
}

export interface ModelLabels {
  readonly model_id: string;
  readonly tags: readonly string[];
  readonly note: string | null;
  /** Null: lists show the model. */
  readonly archived_at: string | null;
}

/** A type, not an interface: it is sent as a query. */
export type ModelFilter = {
  readonly project?: string;
  readonly name?: string;
  readonly tag?: string;
  /** Default: exclude, or include if a name is given. */
  readonly archived?: 'exclude' | 'include' | 'only';
};

export interface ModelProject {
  /** The project's name. */
  readonly id: string;
  /** Models that are not archived. */
  readonly model_count: number;
  readonly archived_count: number;
  readonly active_at: string;
}

/** A model in a list, with its latest step and job. */
export interface ModelSummary
  extends Omit<Model, 'lora' | 'save_policy' | keyof ModelLabels>, Omit<ModelLabels, 'model_id'> {
  readonly created_at: string;
  /** Null: all checkpoints were deleted. */
  readonly latest_step: number | null;
  readonly latest_job: TrainingJob | null;
  /** Mean rewards of the last steps, oldest first. */
  readonly rewards: readonly { readonly step: number; readonly reward: number }[];
}

/** Which checkpoints of a model are kept when a job creates a new one, with the names of Transformers. */
export interface SavePolicy {
  /** Keeps the newest, the best, then the newest of the others. Checkpoints in use are kept in addition. */
  readonly save_total_limit: number;
  /** A metric of checkpoints, such as `val/reward`; default: only age counts. */
  readonly metric_for_best_model?: string | null;
  /** Default: false if the metric's name ends with `loss`. */
  readonly greater_is_better?: boolean;
}

/** The adapter of a new model, with the names of PEFT's LoraConfig. */
export interface LoraOptions {
  /** Rank; default 8. */
  readonly r?: number;
  /** Scale: lora_alpha / r. Default 16. */
  readonly lora_alpha?: number;
  /** Names of linear layers, such as `q_proj`, and `lm_head`; default `all-linear`, which excludes the head. */
  readonly target_modules?: 'all-linear' | readonly string[];
  /** Scale: lora_alpha / √r instead. */
  readonly use_rslora?: boolean;
  readonly seed?: number;
}

export interface Checkpoint {
  readonly id: string;
  readonly step: number;
  readonly created_at: string;
  readonly metrics: Readonly<Record<string, number>>;
}
