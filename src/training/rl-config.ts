// The settings of an RL job: what clients may choose, and what we fix. Defaults are the reference trainer's; a null or
// missing field means its default.
import type { RlConfigInput } from '#domain/trajectory';
import type { LoraConfig, OptimizerParams } from '#engine/training-engine';

/** Of a fresh adapter. B = 0, so that step 0 is the base model. */
export const DEFAULT_LORA: LoraConfig = { rank: 8, alpha: 16, seed: 3407 };

const DEFAULT_LEARNING_RATE = 5e-6;
/** Rows shorter than this waste optimiser steps on few tokens; longer ones waste attention on strangers. */
const DEFAULT_ROW_LENGTH = 512;

export interface RlConfig {
  readonly optimizer: OptimizerParams;
  readonly loss: PolicyLossConfig;
  /** Divide advantages by the standard deviation of their group. */
  readonly scaleRewards: boolean;
  /** −1…1; 1 trains on positive advantages only, −1 on negative ones. */
  readonly advantageBalance: number;
  /** Tokens that a row is filled up to; a longer sequence makes a longer row. */
  readonly rowLength: number;
}

export interface PolicyLossConfig {
  readonly kind: 'cispo' | 'ppo';
  /** The ratio is clipped to [1 − epsilon, 1 + epsilonHigh]. */
  readonly epsilon: number;
  readonly epsilonHigh: number;
}

export function resolveRlConfig(input: RlConfigInput): RlConfig {
  const ppo = input.ppo ?? false;
  const epsilon = input.epsilon ?? (ppo ? 0.2 : 1);
  return {
    optimizer: {
      learningRate: input.learningRate ?? DEFAULT_LEARNING_RATE,
      beta1: 0.9,
      beta2: 0.99,
      epsilon: 1e-8,
      weightDecay: 0.1,
      maxGradNorm: 0.1,
    },
    loss: { kind: ppo ? 'ppo' : 'cispo', epsilon, epsilonHigh: input.epsilonHigh ?? (ppo ? epsilon : 4) },
    scaleRewards: input.scaleRewards ?? true,
    advantageBalance: input.advantageBalance ?? 0,
    rowLength: input.packedSequenceLength ?? DEFAULT_ROW_LENGTH,
  };
}
