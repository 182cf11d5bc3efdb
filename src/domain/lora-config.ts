// What a fresh adapter is made from.

export interface LoraConfig {
  readonly rank: number;
  /** Adapter output is scaled by alpha / rank (arXiv:2106.09685 §4.1). */
  readonly alpha: number;
  /** Seeds A (Kaiming uniform, as PEFT does); B starts at zero. */
  readonly seed: number;
  /** Which layers carry it; default: both. */
  readonly attention?: boolean;
  readonly mlp?: boolean;
}
