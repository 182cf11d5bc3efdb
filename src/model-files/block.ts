// What the layers of a decoder consist of, as its family declares it (families/): plain data, from which the tensor map and
// the graphs of sampler and trainer are built. Contains only what some family needs.

/** Linears that read the same input run as one matmul. */
export const FUSED_LINEARS = ['qkv', 'o', 'gate_up', 'down'] as const;
export const ATTENTION_LINEARS = ['qkv', 'o'] as const satisfies readonly (typeof FUSED_LINEARS)[number][];
export type FusedLinear = (typeof FUSED_LINEARS)[number];

/** A linear layer as the checkpoint stores it; outputs that are fused there are one projection. */
export interface Projection {
  /** `self_attn.q_proj` */
  readonly module: string;
  readonly inFeatures: number;
  readonly outFeatures: number;
  readonly bias: boolean;
}

export interface Norms {
  /** Names of a layer's RMS norms by what they are applied to; null: no norm there. */
  readonly attentionInput: string | null;
  readonly attentionOutput: string | null;
  readonly mlpInput: string | null;
  readonly mlpOutput: string | null;
  /** RMS norms of queries and keys before the rotation: over each head, or over the whole projection. */
  readonly queryKey: 'head' | 'projection' | null;
  /** The stored value is the factor minus 1. */
  readonly plusOne: boolean;
}

export type Activation = 'silu' | 'gelu_tanh';

export type RopeScaling =
  | { readonly kind: 'linear'; readonly factor: number }
  | {
      readonly kind: 'llama3';
      readonly factor: number;
      readonly lowFrequencyFactor: number;
      readonly highFrequencyFactor: number;
      readonly originalMaxPositions: number;
    }
  | {
      /** arXiv:2309.00071 */
      readonly kind: 'yarn';
      readonly factor: number;
      readonly originalMaxPositions: number;
      readonly betaFast: number;
      readonly betaSlow: number;
      readonly truncate: boolean;
      readonly attentionFactor: number;
    }
  | {
      /** arXiv:2402.13753. Only the short factors, which apply up to the original number of positions. */
      readonly kind: 'longrope';
      /** One per frequency. */
      readonly factors: readonly number[];
      readonly originalMaxPositions: number;
      readonly attentionFactor: number;
    };

export interface Rope {
  /** How many values of a head are rotated, counted from its first. */
  readonly dim: number;
  readonly theta: number;
  readonly scaling: RopeScaling | null;
}

/** What attention of one layer looks at. */
export interface LayerAttention {
  /** Window in tokens, including the token itself; null: all earlier tokens. */
  readonly window: number | null;
  /** Null: no rotation; only the mask distinguishes positions (arXiv:2305.19466). */
  readonly rope: Rope | null;
}

export interface Multipliers {
  readonly embedding: number;
  /** Multiplies the attention scores. */
  readonly attention: number;
  /** Multiplies what a layer's attention and MLP add. */
  readonly residual: number;
  readonly logits: number;
}

/** cap · tanh(x / cap); null: x. */
export interface SoftCaps {
  readonly attention: number | null;
  readonly logits: number | null;
}

/** MLPs among which a router chooses for each token (arXiv:1701.06538); each is gated like the dense one and has no biases. */
export interface Experts {
  readonly count: number;
  /** The number of experts per token. */
  readonly perToken: number;
  /** The width of one expert. */
  readonly intermediate: number;
  /** The weights of a token's experts are divided by their sum. */
  readonly normalized: boolean;
  /** By layer: whether it has experts; other layers have the dense MLP. */
  readonly layers: readonly boolean[];
  /** Names of a layer's modules: `mlp.gate` chooses, and `mlp.experts` contains the experts, such as `mlp.experts.6.gate_proj`. */
  readonly router: string;
  readonly module: string;
  readonly names: Readonly<Record<'gate' | 'up' | 'down', string>>;
}

export interface Block {
  readonly linears: Readonly<Record<FusedLinear, readonly Projection[]>>;
  readonly norms: Norms;
  /** Applied to the gate of the MLP. */
  readonly activation: Activation;
  /** By layer. */
  readonly attention: readonly LayerAttention[];
  readonly multipliers: Multipliers;
  readonly softCaps: SoftCaps;
}

export interface Sizes {
  readonly hidden: number;
  readonly layers: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  readonly intermediate: number;
  readonly vocab: number;
  readonly maxPositions: number;
  readonly normEpsilon: number;
  /** The output head is the embedding matrix. */
  readonly tiedEmbeddings: boolean;
}
