// What clients send to train on: rollouts with rewards, in groups of siblings. Names follow docs/api; the wire's form is
// read in api/schema/trajectory.ts. How turns become tokens is training/tokenize.ts.
import type { ChatMessage, ToolDefinition } from './chat.ts';

/** A message that is context only. */
export interface MessageTurn {
  readonly kind: 'message';
  readonly message: ChatMessage;
}

/** As exactly as the client knows it: its id, else its bytes, else its text. */
export type NamedToken = number | readonly number[] | string;

/** Of a stored job: as the prompt before it in the history, up to `shared`, then `rest` (training/folded-prompts.ts). */
export interface FoldedPrompt {
  readonly shared: number;
  readonly rest: readonly number[];
}

export type PromptIds = readonly number[] | FoldedPrompt;

/** A Choice: what the policy said. Trained when it carries logprobs or token ids. */
export interface SampledTurn {
  readonly kind: 'sampled';
  readonly message: ChatMessage;
  readonly finishReason: string;
  /** What was sampled. Null: the turn carries none. */
  readonly tokens: readonly NamedToken[] | null;
  /** Of each token, nats; null where it was not finite. Null: none came. */
  readonly logprobs: readonly (number | null)[] | null;
  readonly promptTokenIds: PromptIds | null;
  /** It was sampled under a constraint: its log-probabilities are those of the masked distribution. Absent: not that anyone knows. */
  readonly isConstrained?: true;
  /** Fields of its request by which it was sampled from another distribution than the model's own. Absent: as the last. */
  readonly reshapedBy?: readonly string[];
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
  /** Absent: nothing, or it is from an older version. */
  readonly notes?: TrajectoryNotes;
}

/** What a client tells of a rollout beside what is trained: kept for people, no number depends on it. */
export interface TrajectoryNotes {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly logs?: readonly string[];
  readonly startTime?: string;
  readonly initialPolicyVersion?: number;
  readonly finalPolicyVersion?: number;
}

/** A rollout that failed, in the client's words. */
export interface RolloutException {
  readonly type: string | null;
  readonly message: string;
  readonly traceback: string | null;
}

export interface GroupNotes {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly logs?: readonly string[];
  readonly exceptions?: readonly RolloutException[];
}

export interface TrajectoryGroup {
  readonly trajectories: readonly Trajectory[];
  /** Rollouts that failed: they count for exception_rate, never for advantages. */
  readonly exceptionCount: number;
  readonly metrics: Readonly<Record<string, number | boolean>>;
  /** Absent: as of a trajectory. */
  readonly notes?: GroupNotes;
}

/** What an RL job's body blob holds, as JSON. Null in `config` means the default (training/rl-config.ts). */
export interface RlJobBody {
  readonly groups: readonly TrajectoryGroup[];
  readonly config: RlConfigInput;
  /** What of the request is not used; the first event says it. */
  readonly warnings: readonly string[];
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
