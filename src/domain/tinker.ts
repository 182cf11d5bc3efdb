// What clients of the Tinker protocol have here: a session, training runs with their numbered operations, samplers, named
// checkpoints. A run is a Whetstone model and a log: its state follows from the last saved one and the operations after it.

export interface TinkerSession {
  readonly id: string;
  readonly entity: string;
  readonly keyId: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  /** Its client's last sign of life. */
  readonly seenAtMs: number;
  readonly endedAtMs: number | null;
}

export interface TinkerRun {
  /** `SESSION:train:NUMBER`: clients compute it. */
  readonly id: string;
  readonly sessionId: string;
  readonly entity: string;
  readonly keyId: string;
  /** The Whetstone model that its checkpoints are steps of; goes with it. Step 0 is what the run began with. */
  readonly modelId: string;
  readonly baseModel: string;
  /** As the client calls the base model. */
  readonly servedAs: string;
  readonly lora: TinkerLora;
  /** Moments of the optimiser that step 0 has are not used. */
  readonly resetsOptimizer: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Counts who had the right to execute; later writes name it. */
  readonly attempt: number;
  /** All operations up to this one are done or failed. */
  readonly doneSeq: number;
  /** What is saved has all updates up to this operation. */
  readonly stateSeq: number;
  /** A directory; null: nothing was saved since step 0. */
  readonly stateBlob: string | null;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
}

/** The vendor's scale is this alpha / rank, whatever the rank. */
export const TINKER_ALPHA = 32;

export interface TinkerLora {
  readonly rank: number;
  readonly seed: number;
  readonly attention: boolean;
  readonly mlp: boolean;
  /** The output head. Absent: a run from when it was not trained here. */
  readonly unembed?: boolean;
}

export type OperationKind =
  'forward_backward' | 'optim_step' | 'save_weights' | 'save_sampler' | 'save_external' | 'load';

export interface TinkerOperation {
  readonly runId: string;
  readonly seq: number;
  readonly kind: OperationKind;
  /** Of what was sent: the same number with another body is another operation. */
  readonly bodyHash: string;
  /** JSON. Of forward_backward: what of it is needed to replay; its data is a blob. */
  readonly body: string;
  readonly status: 'queued' | 'done' | 'failed';
  /** JSON, or of forward_backward the empty string: it is a blob. Null: not done. */
  readonly result: string | null;
  readonly error: string | null;
  /** Whose fault it was. */
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
  /** `tinker://…`; null: the base model, or weights that have no name. */
  readonly modelPath: string | null;
  /** Of weights: which step of which model. */
  readonly modelId: string | null;
  readonly step: number | null;
  /** Weights without a name; they go with the run's model. */
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
  /** Since then every entity may read it; null: only its own. */
  readonly publishedAtMs: number | null;
}

export const tinkerPath = ({ runId, kind, name }: Pick<TinkerCheckpoint, 'runId' | 'kind' | 'name'>): string =>
  `tinker://${runId}/${kind}/${name}`;

/** Null: not such a path. */
export function parseTinkerPath(path: string): Pick<TinkerCheckpoint, 'runId' | 'kind' | 'name'> | null {
  const [, runId, kind, name] = /^tinker:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  const known = CHECKPOINT_KINDS.find((each) => each === kind);
  return runId !== undefined && name !== undefined && known ? { runId, kind: known, name } : null;
}
