// The settings of an SFT job. Defaults are the reference trainer's, except for the learning rate, which depends on the model's size.
import type { BatchConfigInput, SftConfigInput } from '#domain/sft';
import type { OptimizerParams } from '#engine/training-engine';
import type { EvaluationSchedule } from './early-stopping.ts';
import { fittedLearningRates, shortRate } from './fitted-learning-rate.ts';
import type { LearningRateSchedule } from './learning-rate-schedule.ts';

/** Used if the model's size is unknown: the reference trainer's. */
const DEFAULT_LEARNING_RATE = 5e-5;
/** The value of `batch_size: "auto"`. */
const DEFAULT_BATCH_SIZE = 2;

/** How rows become batches, and batches steps; also for DPO jobs. */
export interface BatchConfig {
  readonly optimizer: Omit<OptimizerParams, 'learningRate'>;
  readonly learningRate: number | readonly number[];
  readonly schedule: LearningRateSchedule;
  readonly epochs: number;
  /** Rows per optimiser step. */
  readonly batchSize: number;
  /** Sequences of a batch are packed into shared rows, in which they do not see each other. */
  readonly packs: boolean;
  /** Fraction of the rows that is held out. */
  readonly validationSplit: number;
  /** Evaluation of held-out rows during training; null: only the checkpoint is evaluated. */
  readonly evaluation: EvaluationSchedule | null;
}

export interface SftConfig extends BatchConfig {
  readonly trainedTurns: 'all' | 'last';
  readonly logsMetrics: boolean;
}

/** `defaults`: for settings in which the kinds of jobs differ. */
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

/** Early stopping implies the best weights, as Transformers requires. */
const resolveEvaluation = (everySteps: number, input: BatchConfigInput): EvaluationSchedule => ({
  everySteps,
  metric: input.bestMetric ?? 'val/loss',
  patience: input.earlyStoppingPatience ?? null,
  threshold: input.earlyStoppingThreshold ?? 0,
  loadsBest: input.loadsBest ?? input.earlyStoppingPatience !== undefined,
});

/** `hiddenSize` of the base model; null: unknown. */
export const resolveSftConfig = (input: SftConfigInput, hiddenSize: number | null): SftConfig => ({
  ...resolveBatchConfig(input, { learningRate: defaultLearningRate(hiddenSize), batchSize: DEFAULT_BATCH_SIZE }),
  trainedTurns: input.assistantTurns ?? 'all',
  logsMetrics: input.logsMetrics ?? false,
});

/** The lower of the fitted rates: a rate that is too low learns slowly, one that is too high does not learn at all. */
export const defaultLearningRate = (hiddenSize: number | null): number =>
  hiddenSize === null ? DEFAULT_LEARNING_RATE : shortRate(fittedLearningRates(hiddenSize).low);
