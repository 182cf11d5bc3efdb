// State of Tinker clients: sessions, training runs with their numbered operations, samplers, named checkpoints. A run is a
// Whetstone model and a log: its state follows from the last saved one and the operations after it.

import type { WaitingFor } from './training-job.ts';

export interface TinkerSession {
  readonly id: string;
  readonly entity: string;
  readonly keyId: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  /** Time of the client's last heartbeat. */
  readonly seenAtMs: number;
  readonly endedAtMs: number | null;
}

export interface TinkerRun {
  /** `SESSION:train:NUMBER`: clients compute it themselves. */
  readonly id: string;
  readonly sessionId: string;
  readonly entity: string;
  readonly keyId: string;
  /** The Whetstone model whose steps are this run's checkpoints; deleted with it. Step 0 is the run's starting point. */
  readonly modelId: string;
  readonly baseModel: string;
  /** The base model, under the client's name for it. */
  readonly servedAs: string;
  readonly lora: TinkerLora;
  /** Ignore the optimizer moments of step 0. */
  readonly resetsOptimizer: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Fencing token: incremented for each new executor and required by its later writes. */
  readonly attempt: number;
  /** All operations up to this one are done or failed. */
  readonly doneSeq: number;
  /** The saved state includes all updates up to this operation, and no gradients of operations up to it are still needed. */
  readonly stateSeq: number;
  /** A directory; null: nothing has been saved since step 0. */
  readonly stateBlob: string | null;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
  /** What its next operation waits behind; null: nothing that is known. */
  readonly waitingFor: WaitingFor | null;
}

/** The vendor scales by this alpha / rank, whatever the rank. */
export const TINKER_ALPHA = 32;

export interface TinkerLora {
  readonly rank: number;
  readonly seed: number;
  readonly attention: boolean;
  readonly mlp: boolean;
  /** Whether the output head is trained. Absent: the run is older than this option. */
  readonly unembed?: boolean;
}

export type OperationKind =
  'forward_backward' | 'optim_step' | 'save_weights' | 'save_sampler' | 'save_external' | 'load';

export interface TinkerOperation {
  readonly runId: string;
  readonly seq: number;
  readonly kind: OperationKind;
  /** Hash of the request: the same number with another body is another operation. */
  readonly bodyHash: string;
  /** JSON. For forward_backward only what a replay needs; the data is in a blob. */
  readonly body: string;
  readonly status: 'queued' | 'done' | 'failed';
  /** JSON; empty for forward_backward, whose result is a blob. Null: not done. */
  readonly result: string | null;
  readonly error: string | null;
  /** Whether the client or the server caused the failure. */
  readonly category: ErrorCategory | null;
  readonly createdAtMs: number;
}

export type ErrorCategory = 'user' | 'server';

export interface TinkerSampler {
  readonly id: string;
  readonly sessionId: string;
  readonly ordinal: number;
  readonly entity: string;
  readonly baseModel: string;
  readonly servedAs: string;
  /** `tinker://…`; null: the base model, or unnamed weights. */
  readonly modelPath: string | null;
  /** The step and model of the weights. */
  readonly modelId: string | null;
  readonly step: number | null;
  /** Unnamed weights, deleted with the run's model. */
  readonly blob: string | null;
  readonly createdAtMs: number;
}

export const CHECKPOINT_KINDS = ['weights', 'sampler_weights', 'external_weights'] as const;
export type CheckpointKind = (typeof CHECKPOINT_KINDS)[number];

export interface TinkerCheckpoint {
  readonly runId: string;
  readonly kind: CheckpointKind;
  readonly name: string;
  readonly entity: string;
  readonly modelId: string;
  readonly step: number;
  readonly sizeBytes: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  /** When it was published, so that every entity may read it; null: not published. */
  readonly publishedAtMs: number | null;
}

export const tinkerPath = ({ runId, kind, name }: Pick<TinkerCheckpoint, 'runId' | 'kind' | 'name'>): string =>
  `tinker://${runId}/${kind}/${name}`;

/** Returns null if the text is not such a path. */
export function parseTinkerPath(path: string): Pick<TinkerCheckpoint, 'runId' | 'kind' | 'name'> | null {
  const [, runId, kind, name] = /^tinker:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  const known = CHECKPOINT_KINDS.find((each) => each === kind);
  return runId !== undefined && name !== undefined && known ? { runId, kind: known, name } : null;
}

/** Losses of reinforcement learning, by the protocol's names. */
export const RL_LOSSES = ['importance_sampling', 'ppo', 'cispo', 'dro', 'gspo'] as const;
export const TINKER_LOSSES = ['cross_entropy', ...RL_LOSSES] as const;
export type TinkerLossName = (typeof TINKER_LOSSES)[number];
