// Training data of RL jobs: rollouts with rewards, in groups that share a prompt. rows/trajectory.ts reads the wire form;
// training/tokenize.ts turns messages into tokens.
import type { ChatMessage, ToolDefinition } from './chat.ts';

/** A message that is only context and is not trained. */
export interface MessageTurn {
  readonly kind: 'message';
  readonly message: ChatMessage;
}

/** As exactly as the client knows the token: by id, else by bytes, else by text. */
export type NamedToken = number | readonly number[] | string;

/** In stored jobs: the previous prompt in the history up to `shared`, then `rest` (training/folded-prompts.ts). */
export interface FoldedPrompt {
  readonly shared: number;
  readonly rest: readonly number[];
}

export type PromptIds = readonly number[] | FoldedPrompt;

/** A choice that the policy sampled. It is trained if it carries logprobs or token ids. */
export interface SampledTurn {
  readonly kind: 'sampled';
  readonly message: ChatMessage;
  readonly finishReason: string;
  /** The sampled tokens. Null: the choice carries none. */
  readonly tokens: readonly NamedToken[] | null;
  /** For each token, nats; null where not finite. Null as a whole: the choice carries none. */
  readonly logprobs: readonly (number | null)[] | null;
  readonly promptTokenIds: PromptIds | null;
  /** The choice of an answer of this server, by the answer's id. Absent: unknown, or its tokens were already found. */
  readonly answer?: { readonly id: string; readonly index: number };
  /** Sampled under a constraint: its log-probabilities are those of the masked distribution. Absent: unknown. */
  readonly isConstrained?: true;
  /** Request fields that made the sampling distribution differ from the model's own. Absent: unknown. */
  readonly reshapedBy?: readonly string[];
  /** The step of the job's model that sampled it. Absent: unknown. */
  readonly policyStep?: number;
  /** Of its tokens alone, in addition to the trajectory's. Absent: it has none. */
  readonly reward?: number;
}

export type Turn = MessageTurn | SampledTurn;

export interface History {
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolDefinition[] | null;
  /** JSON of the tools as Python reads it (base/sent-json.ts). Absent: as JSON.stringify writes them. */
  readonly toolsText?: string;
}

export interface Trajectory {
  /** The main history first, then the additional ones; each becomes its own token sequence. */
  readonly histories: readonly History[];
  readonly reward: number;
  readonly metrics: Readonly<Record<string, number | boolean>>;
  /** Absent: none, or the job is from an older version. */
  readonly notes?: TrajectoryNotes;
}

/** What a client reports about a rollout in addition to training data. Kept for people; training uses only `initialPolicyVersion`. */
export interface TrajectoryNotes {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly logs?: readonly string[];
  readonly startTime?: string;
  /** The step at which it began: of its tokens, where nothing else says which step sampled them. */
  readonly initialPolicyVersion?: number;
  readonly finalPolicyVersion?: number;
}

/** An exception in a rollout, in the client's words. */
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
  /** Rollouts that failed: they count towards exception_rate, never towards advantages. */
  readonly exceptionCount: number;
  readonly metrics: Readonly<Record<string, number | boolean>>;
  /** Absent: as for a trajectory. */
  readonly notes?: GroupNotes;
}

/** Content of an RL job's body blob, as JSON. Null in `config` means the default (training/rl-config.ts). */
export interface RlJobBody {
  readonly groups: readonly TrajectoryGroup[];
  readonly config: RlConfigInput;
  /** Parts of the request that are not used; the first event names them. */
  readonly warnings: readonly string[];
}

/** An RL job whose rollouts are stored as episodes: by group, their ids or names. */
export interface EpisodeJobBody extends Omit<RlJobBody, 'groups'> {
  readonly episodeGroups: readonly (readonly string[])[];
}

/** The known fields of experimental_config that the client sent with a value. */
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
  readonly maxStaleness?: number;
}

/** The reference policy of the KL term; absent: the base model. */
export type KlReference =
  | { readonly step: number }
  /** This many steps before the job's starting step, but not before step 0. */
  | { readonly stepLag: number }
  /** A checkpoint of another model, by the name that chat requests use. */
  | { readonly checkpointName: string };
