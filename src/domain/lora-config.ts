// The settings of a fresh LoRA adapter.

export interface LoraConfig {
  readonly rank: number;
  /** Adapter output is scaled by alpha / rank (arXiv:2106.09685 §4.1). */
  readonly alpha: number;
  /** Scale by alpha / √rank instead (arXiv:2312.03732). Default: false. */
  readonly rankStabilized?: boolean;
  /** Seeds A (Kaiming uniform, as PEFT does); B starts at zero. */
  readonly seed: number;
  /** Names of the adapted linear layers, such as `q_proj`. Default: all that the next three settings include. */
  readonly targets?: readonly string[];
  /** Which kinds of layers are adapted; default: both. */
  readonly attention?: boolean;
  readonly mlp?: boolean;
  /** Whether the output head is adapted; default: false, as in PEFT's `all-linear`. */
  readonly unembed?: boolean;
}

/** Settings of the adapter at step 0. B = 0, so that step 0 equals the base model. */
export const DEFAULT_LORA = { rank: 8, alpha: 16, seed: 3407 } as const satisfies LoraConfig;
