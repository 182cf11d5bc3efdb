// What an operation asks for, as its row keeps it: JSON beside the kind. The data of a forward_backward are a blob; an
// optim_step has the engine's OptimizerParams.
export interface ForwardBackwardBody {
  readonly forwardOnly: boolean;
}

export interface SaveBody {
  /** Null: weights for sampling that have no name. */
  readonly name: string | null;
  readonly overwrite: boolean;
  readonly ttlSeconds: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Of weights without a name: the place of their sampler in the session. */
  readonly samplerOrdinal: number | null;
}

export interface LoadBody {
  readonly path: string;
  readonly optimizer: boolean;
}
