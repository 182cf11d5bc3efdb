// What clients send to train on: rollouts with rewards, in groups of siblings. Names follow docs/api; the wire's form is
// read in api/schema/trajectory.ts. How turns become tokens is training/tokenize.ts.
import type { ChatMessage, ToolDefinition } from './chat.ts';

/** A message that is context only. */
export interface MessageTurn {
  readonly kind: 'message';
  readonly message: ChatMessage;
}

/** A Choice: what the policy said. Trained when it carries logprobs or token ids. */
export interface SampledTurn {
  readonly kind: 'sampled';
  readonly message: ChatMessage;
  readonly finishReason: string;
  /** What was sampled: ids, or the text of a token where the client has only that. Null: the turn carries none. */
  readonly tokens: readonly (number | string)[] | null;
  /** Of each token, nats; null where it was not finite. Null: none came. */
  readonly logprobs: readonly (number | null)[] | null;
  readonly promptTokenIds: readonly number[] | null;
}

export type Turn = MessageTurn | SampledTurn;

export interface History {
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolDefinition[] | null;
}

export interface Trajectory {
  /** The main history first, then the additional ones; each becomes its own token sequence. */
  readonly histories: readonly History[];
  readonly reward: number;
  readonly metrics: Readonly<Record<string, number | boolean>>;
}

export interface TrajectoryGroup {
  readonly trajectories: readonly Trajectory[];
  /** Rollouts that failed: they count for exception_rate, never for advantages. */
  readonly exceptionCount: number;
  readonly metrics: Readonly<Record<string, number | boolean>>;
}

/** What an RL job's body blob holds, as JSON. Null in `config` means the default (training/rl-config.ts). */
export interface RlJobBody {
  readonly groups: readonly TrajectoryGroup[];
  readonly config: RlConfigInput;
}

/** The known fields of experimental_config that were sent and not null. */
export interface RlConfigInput {
  readonly learningRate?: number;
  readonly scaleRewards?: boolean;
  readonly advantageBalance?: number;
  readonly ppo?: boolean;
  readonly epsilon?: number;
  readonly epsilonHigh?: number;
  readonly packedSequenceLength?: number;
  readonly importanceSamplingLevel?: 'token' | 'sequence' | 'average' | 'geometric_average';
  readonly maskProbRatio?: boolean;
  /** max_negative_advantage_importance_sampling_weight */
  readonly ratioMax?: number;
  /** vendor_k2_tau */
  readonly tau?: number;
  readonly truncatedImportanceSampling?: number;
  readonly precalculateLogprobs?: boolean;
  readonly allowTrainingWithoutLogprobs?: boolean;
  readonly klPenaltyCoefficient?: number;
  readonly klPenaltySource?: 'current_learner' | 'sample';
  readonly klReference?: KlReference;
  /** num_trajectories_learning_rate_multiplier_power */
  readonly sequenceCountPower?: number;
  readonly scaleLearningRateByRewardStdDev?: boolean;
  /** logprob_calculation_chunk_size */
  readonly logprobChunkSize?: number;
}

/** The policy that KL is measured against; without one, the base model. */
export type KlReference =
  | { readonly step: number }
  /** Steps before the one the job starts from; not before step 0. */
  | { readonly stepLag: number }
  /** Another model's checkpoint, by the name that chat requests use. */
  | { readonly checkpointName: string };
