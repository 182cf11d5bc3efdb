// The types of episodes and of online training: requests and answers, with the names used on the wire. Part of wire.ts.
import type { EvaluationRequest } from './wire.ts';

export type EpisodeStatus = 'open' | 'rewarded' | 'trained' | 'expired';

export interface EpisodeData {
  readonly id: string;
  readonly name: string;
  readonly group: string | null;
  readonly model_id: string;
  readonly status: EpisodeStatus;
  readonly outcome: 'completed' | 'failed' | null;
  readonly reward: number | null;
  readonly metrics: Readonly<Record<string, number>>;
  readonly turn_rewards: Readonly<Record<string, number>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly last_call_at: string | null;
  readonly rewarded_at: string | null;
  readonly expired_at: string | null;
  /** The training job that used it. */
  readonly trained_by: string | null;
  readonly call_count: number;
  /** Tokens that calls share count once. */
  readonly token_count: number;
  readonly trained_token_count: number;
  readonly stored_bytes: number;
}

export interface CreatedEpisode extends EpisodeData {
  readonly base_url: string;
  readonly anthropic_base_url: string;
  readonly warnings?: readonly string[];
}

export interface EpisodeRequest {
  readonly model_id: string;
  /** Default: made up by the server. */
  readonly name?: string | null;
  readonly group?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

export interface EpisodeFilter {
  readonly model_id?: string;
  readonly group?: string;
  readonly status?: EpisodeStatus;
  /** The job that used them. */
  readonly training_job_id?: string;
  readonly reward_min?: number;
  readonly reward_max?: number;
  readonly search?: string;
  readonly order?: 'asc' | 'desc';
}

export interface RewardRequest {
  readonly reward: number;
  /** true is kept as 1, false as 0. */
  readonly metrics?: Readonly<Record<string, number | boolean>> | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly group?: string | null;
  /** By the `id` of the answers. */
  readonly turn_rewards?: Readonly<Record<string, number>> | null;
  /** Default: completed. */
  readonly status?: 'completed' | 'failed';
}

interface EpisodeCallFields {
  readonly id: string;
  /** The `id` of the answer that the agent got. */
  readonly answer_id: string;
  readonly model: string;
  readonly policy_step: number | null;
  readonly trained: boolean;
  readonly cut: boolean;
  readonly reshaped_by: readonly string[];
  readonly created_at: string;
  /** The call that it continues; null: a tree begins here. */
  readonly parent_id: string | null;
  readonly parent_choice: number | null;
  readonly shared_tokens: number;
  readonly prompt_tokens: number;
}

export interface EpisodeCall extends EpisodeCallFields {
  readonly shared_messages: number;
  /** Those that the parent does not have; null: the prompt was text or token ids. */
  readonly messages: readonly Readonly<Record<string, unknown>>[] | null;
  readonly tools: readonly Readonly<Record<string, unknown>>[] | null;
  readonly shares_tools: boolean;
  readonly sampling: Readonly<Record<string, unknown>>;
  readonly template: Readonly<Record<string, unknown>>;
  readonly choices: readonly {
    readonly index: number;
    readonly completion_tokens: number;
    readonly finish_reason: string | null;
    readonly constrained: boolean;
    readonly content: string;
    readonly reasoning: string;
    readonly tool_calls: readonly { readonly name: string; readonly arguments: string }[];
  }[];
}

export interface EpisodeWithCalls extends EpisodeData {
  readonly calls: readonly EpisodeCall[];
  readonly has_more: boolean;
}

export interface EpisodeCallTokens extends EpisodeCallFields {
  readonly prompt_token_ids: readonly number[];
  readonly choices: readonly {
    readonly index: number;
    readonly finish_reason: string | null;
    readonly constrained: boolean;
    readonly token_ids: readonly number[];
    /** Nats. */
    readonly logprobs: readonly number[];
    /** What each token completes; null: the server does not have the base model. */
    readonly texts: readonly string[] | null;
  }[];
}

/** What online training makes jobs of, and until when. */
export interface OnlineTrainingRequest {
  /** Complete groups of a job. Default 8. */
  readonly groups_per_step?: number;
  /** Rewarded episodes of a complete group. Default 2. */
  readonly group_size_min?: number;
  /** In steps; null: any. */
  readonly max_staleness?: number | null;
  /** Null: it goes on. */
  readonly until_step?: number | null;
  /** Of each job, as in RlJobRequest. */
  readonly experimental_config?: Readonly<Record<string, unknown>> | null;
  readonly evaluation?: EvaluationRequest | null;
}

/** A group of episodes that the next step does not train. */
export interface OpenGroup {
  readonly name: string;
  /** Episodes without a reward. */
  readonly open: number;
  /** Episodes with a reward that no job has used. */
  readonly rewarded: number;
}

/** How online training stands. */
export interface OnlineTraining {
  readonly model_id: string;
  readonly status: 'active' | 'paused' | 'reached';
  /** A sentence: what the next step waits for. */
  readonly waiting_for: string;
  /** The model's latest. */
  readonly step: number;
  readonly complete_groups: number;
  readonly missing_groups: number;
  /** The oldest groups that are not complete. */
  readonly open_groups: readonly OpenGroup[];
  /** The oldest with enough rewards, of episodes that are older than `max_staleness`. */
  readonly stale_groups: readonly OpenGroup[];
  readonly running_job_id: string | null;
  readonly last_job_id: string | null;
  readonly job_count: number;
  readonly groups_per_step: number;
  readonly group_size_min: number;
  readonly max_staleness: number | null;
  readonly until_step: number | null;
  /** Both as they were sent. */
  readonly experimental_config: Readonly<Record<string, unknown>> | null;
  readonly evaluation: EvaluationRequest | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly warnings?: readonly string[];
}
