// The parameters of an operation as stored in its row: JSON whose form depends on the kind. The data of a forward_backward is in a blob;
// an optim_step stores the engine's OptimizerParams.
export interface ForwardBackwardBody {
  readonly forwardOnly: boolean;
  /** The last failed request of which the client had read when it sent this one. */
  readonly knows?: number;
}

export interface SaveBody {
  /** Null: unnamed weights for sampling. */
  readonly name: string | null;
  readonly overwrite: boolean;
  readonly ttlSeconds: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** For unnamed weights: the index of their sampler in the session. */
  readonly samplerOrdinal: number | null;
}

export interface LoadBody {
  readonly path: string;
  readonly optimizer: boolean;
}
