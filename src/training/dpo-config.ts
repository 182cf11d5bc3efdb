// The settings of a DPO job. Defaults are TRL's, except for the batch size and the learning rate.
import type { DpoConfigInput } from '#domain/dpo';
import { shortRate } from './fitted-learning-rate.ts';
import type { PreferenceLossConfig } from './preference-loss.ts';
import { defaultLearningRate, resolveBatchConfig, type BatchConfig } from './sft-config.ts';

/** TRL's default rate for DPO, 1e-6, divided by its default for SFT, 2e-5: a margin sums over the tokens of two answers, and so does its gradient. */
const RATE_BY_SFT = 1 / 20;
/** The value of `batch_size: "auto"`, in pairs. */
const DEFAULT_BATCH_SIZE = 8;

export interface DpoConfig extends BatchConfig {
  readonly loss: PreferenceLossConfig;
}

/** `hiddenSize` of the base model; null: unknown. */
export function resolveDpoConfig(
  { beta = 0.1, lossType = 'sigmoid', labelSmoothing = 0, ...input }: DpoConfigInput,
  hiddenSize: number | null,
): DpoConfig {
  const learningRate = shortRate(defaultLearningRate(hiddenSize) * RATE_BY_SFT);
  return {
    ...resolveBatchConfig(input, { learningRate, batchSize: DEFAULT_BATCH_SIZE }),
    loss: { type: lossType, beta, labelSmoothing },
  };
}
