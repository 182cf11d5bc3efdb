// The settings of an SFT job. Defaults are the reference trainer's, but for the learning rate, which follows the model's size.
import type { BatchConfigInput, SftConfigInput } from '#domain/sft';
import type { OptimizerParams } from '#engine/training-engine';
import type { EvaluationSchedule } from './early-stopping.ts';
import { fittedLearningRates, shortRate } from './fitted-learning-rate.ts';
import type { LearningRateSchedule } from './learning-rate-schedule.ts';

/** Where nobody knows the model's size: the reference trainer's. */
const DEFAULT_LEARNING_RATE = 5e-5;
/** What `batch_size: "auto"` means. */
const DEFAULT_BATCH_SIZE = 2;

/** How rows become batches, and batches steps; of DPO jobs too. */
export interface BatchConfig {
  readonly optimizer: Omit<OptimizerParams, 'learningRate'>;
  readonly learningRate: number | readonly number[];
  readonly schedule: LearningRateSchedule;
  readonly epochs: number;
  /** Rows per optimiser step. */
  readonly batchSize: number;
  /** Sequences of a batch fill rows of the trainer together, and do not see each other there. */
  readonly packs: boolean;
  /** Fraction of the rows that is held out. */
  readonly validationSplit: number;
  /** Of the held-out rows while training goes on; null: only the checkpoint is measured. */
  readonly evaluation: EvaluationSchedule | null;
}

export interface SftConfig extends BatchConfig {
  readonly trainedTurns: 'all' | 'last';
  readonly logsMetrics: boolean;
}

/** `defaults`: of what the kinds of jobs do not share. */
export const resolveBatchConfig = (
  input: BatchConfigInput,
  defaults: Pick<BatchConfig, 'batchSize'> & { readonly learningRate: number },
): BatchConfig => ({
  optimizer: { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.01, maxGradNorm: 1 },
  learningRate: input.learningRate ?? defaults.learningRate,
  schedule: {
    type: input.schedulerType ?? 'constant',
    warmupSteps: input.warmupSteps ?? 0,
    warmupRatio: input.warmupRatio ?? 0,
  },
  epochs: input.epochs ?? 1,
  batchSize: input.batchSize ?? defaults.batchSize,
  packs: input.packs ?? true,
  validationSplit: input.validationSplit ?? 0,
  evaluation: input.evalSteps === undefined ? null : resolveEvaluation(input.evalSteps, input),
});

/** Who stops early wants the weights that were the best, as Transformers demands of them. */
const resolveEvaluation = (everySteps: number, input: BatchConfigInput): EvaluationSchedule => ({
  everySteps,
  metric: input.bestMetric ?? 'val/loss',
  patience: input.earlyStoppingPatience ?? null,
  threshold: input.earlyStoppingThreshold ?? 0,
  loadsBest: input.loadsBest ?? input.earlyStoppingPatience !== undefined,
});

/** `hiddenSize` of the base model; null: not known. */
export const resolveSftConfig = (input: SftConfigInput, hiddenSize: number | null): SftConfig => ({
  ...resolveBatchConfig(input, { learningRate: defaultLearningRate(hiddenSize), batchSize: DEFAULT_BATCH_SIZE }),
  trainedTurns: input.assistantTurns ?? 'all',
  logsMetrics: input.logsMetrics ?? false,
});

/** Of the rates that were fitted the lower one: too low learns slowly, too high not at all. */
export const defaultLearningRate = (hiddenSize: number | null): number =>
  hiddenSize === null ? DEFAULT_LEARNING_RATE : shortRate(fittedLearningRates(hiddenSize).low);
