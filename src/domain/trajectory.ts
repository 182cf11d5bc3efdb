// What clients send to train on: rollouts with rewards, in groups of siblings. Names follow docs/api; the wire's form is
// read in api/schema/trajectory.ts. How turns become tokens is training/tokenize.ts.
import type { ChatMessage, ToolDefinition } from './chat.ts';

/** `token` is `token_id:N` or the token's text; logprob in nats, null where it was not finite. */
export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number | null;
}

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
  readonly logprobs: readonly TokenLogprob[] | null;
  readonly tokenIds: readonly number[] | null;
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
}
