// The settings of an SFT job. Defaults are the reference trainer's.
import type { SftConfigInput } from '#domain/sft';
import type { OptimizerParams } from '#engine/training-engine';

const DEFAULT_LEARNING_RATE = 5e-5;
/** What `batch_size: "auto"` means. */
const DEFAULT_BATCH_SIZE = 2;

export interface SftConfig {
  readonly optimizer: Omit<OptimizerParams, 'learningRate'>;
  readonly learningRate: number | readonly number[];
  /** Rows per optimiser step. */
  readonly batchSize: number;
  readonly trainedTurns: 'all' | 'last';
  /** Fraction of the rows that is held out. */
  readonly validationSplit: number;
  readonly logsMetrics: boolean;
}

export const resolveSftConfig = (input: SftConfigInput): SftConfig => ({
  optimizer: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.01, maxGradNorm: 1 },
  learningRate: input.learningRate ?? DEFAULT_LEARNING_RATE,
  batchSize: input.batchSize ?? DEFAULT_BATCH_SIZE,
  trainedTurns: input.assistantTurns ?? 'all',
  validationSplit: input.validationSplit ?? 0,
  logsMetrics: input.logsMetrics ?? false,
});
