// What a fresh adapter is made from.

export interface LoraConfig {
  readonly rank: number;
  /** Adapter output is scaled by alpha / rank (arXiv:2106.09685 §4.1). */
  readonly alpha: number;
  /** Scaled by alpha / √rank instead (arXiv:2312.03732). Default: no. */
  readonly rankStabilized?: boolean;
  /** Seeds A (Kaiming uniform, as PEFT does); B starts at zero. */
  readonly seed: number;
  /** Names of linear layers that carry it, such as `q_proj`. Default: all that the next three leave. */
  readonly targets?: readonly string[];
  /** Which layers carry it; default: both. */
  readonly attention?: boolean;
  readonly mlp?: boolean;
  /** The output head carries it too; default: no, as PEFT's `all-linear`. */
  readonly unembed?: boolean;
}

/** Of a fresh adapter. B = 0, so that step 0 is the base model. */
export const DEFAULT_LORA = { rank: 8, alpha: 16, seed: 3407 } as const satisfies LoraConfig;
