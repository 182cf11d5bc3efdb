// A job's settings with all defaults filled in, under the names that clients send: shown in the first event, and for a job that has not
// begun as what it would train with. models/checkpoint-lora.ts adds the adapter's settings.
import type { KlReference } from '#domain/trajectory';
import type { DpoConfig } from '#training/dpo-config';
import type { EvaluationSchedule } from '#training/early-stopping';
import type { RlConfig } from '#training/rl-config';
import type { BatchConfig, SftConfig } from '#training/sft-config';

export type ResolvedConfig = Readonly<Record<string, unknown>>;

/** Learning rates per batch are shown individually up to this number. */
const RATES_SHOWN_MAX = 100;

export function resolvedRl(config: RlConfig, reference: KlReference | null): ResolvedConfig {
  const { optimizer, loss } = config;
  return {
    learning_rate: optimizer.learningRate,
    ppo: loss.kind === 'ppo',
    loss_fn: loss.kind,
    epsilon: loss.epsilon,
    epsilon_high: loss.epsilonHigh,
    importance_sampling_level: loss.importanceSampling,
    mask_prob_ratio: loss.masksRatio,
    max_negative_advantage_importance_sampling_weight: loss.ratioMax,
    truncated_importance_sampling: loss.truncation,
    vendor_k2_tau: loss.tau,
    advantage_balance: config.advantageBalance,
    scale_rewards: config.scaleRewards,
    precalculate_logprobs: loss.precalculates,
    allow_training_without_logprobs: config.trainsUnsampled,
    kl_penalty_coef: loss.kl?.coefficient ?? 0,
    kl_penalty_source: loss.kl?.source ?? null,
    kl_penalty_reference_step: reference && 'step' in reference ? reference.step : null,
    kl_penalty_step_lag: reference && 'stepLag' in reference ? reference.stepLag : null,
    kl_ref_adapter_path: reference && 'checkpointName' in reference ? reference.checkpointName : null,
    num_trajectories_learning_rate_multiplier_power: config.sequenceCountPower,
    scale_learning_rate_by_reward_std_dev: config.scalesLearningRateByRewardSpread,
    packed_sequence_length: config.rowLength,
    logprob_calculation_chunk_size: config.headTokensMax,
    max_staleness: config.maxStaleness,
    optimizer: optimizerOf(optimizer),
  };
}

/** `warmupSteps`: the number of steps that the ratio amounts to, once the total is known. */
export const resolvedSft = (config: SftConfig, warmupSteps?: number): ResolvedConfig => ({
  ...resolvedBatches(config, warmupSteps),
  assistant_turns: config.trainedTurns,
  metric_logging: { enabled: config.logsMetrics },
});

/** As of resolvedSft. */
export const resolvedDpo = (config: DpoConfig, warmupSteps?: number): ResolvedConfig => ({
  beta: config.loss.beta,
  loss_type: config.loss.type,
  label_smoothing: config.loss.labelSmoothing,
  ...resolvedBatches(config, warmupSteps),
});

function resolvedBatches(
  { learningRate, schedule, ...config }: BatchConfig,
  warmupSteps: number = schedule.warmupSteps,
): ResolvedConfig {
  const isListed = typeof learningRate !== 'number';
  return {
    epochs: config.epochs,
    batch_size: config.batchSize,
    packing: config.packs,
    learning_rate: !isListed || learningRate.length <= RATES_SHOWN_MAX ? learningRate : null,
    ...(isListed
      ? { num_learning_rates: learningRate.length }
      : { lr_scheduler_type: schedule.type, warmup_ratio: schedule.warmupRatio, warmup_steps: warmupSteps }),
    validation_split: config.validationSplit,
    ...(config.evaluation ? resolvedEvaluation(config.evaluation) : {}),
    optimizer: optimizerOf(config.optimizer),
  };
}

const resolvedEvaluation = ({ everySteps, metric, patience, threshold, loadsBest }: EvaluationSchedule) => ({
  eval_steps: everySteps,
  metric_for_best_model: metric,
  load_best_model_at_end: loadsBest,
  early_stopping_patience: patience,
  early_stopping_threshold: threshold,
});

const optimizerOf = ({ beta1, beta2, epsilon, weightDecay, maxGradNorm }: BatchConfig['optimizer']) => ({
  name: 'adamw',
  beta1,
  beta2,
  epsilon,
  weight_decay: weightDecay,
  max_grad_norm: maxGradNorm,
});
