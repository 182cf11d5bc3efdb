// How far the trainer's log-probabilities are from the sampler's before training: zero if both compute the same weights exactly. Engines
// that round differently, or rollouts from older weights, make the ratios of the loss start away from 1. Pure functions.
import type { PolicyLossConfig } from './rl-config.ts';
import type { StepMetrics } from './step-metrics.ts';

/** For one row, `[trained]`, nats. NaN: the sampled log-probability is unknown. */
export interface ComparedRow {
  readonly sampled: Float32Array;
  readonly trainer: Float32Array;
}

/** Statistics of the log-ratios, trainer − sampler, over all tokens that both know. */
export interface SamplerMismatch {
  readonly tokens: number;
  /** An estimate of minus the KL divergence of the sampler from the trainer. */
  readonly mean: number;
  /** Of the absolute values. */
  readonly p99: number;
  /** The fraction of tokens whose ratio is outside the loss's clip range. */
  readonly clipped: number;
}

/** Minimum number of trained tokens to compare, if there are that many: 80 of them lie beyond the 99th percentile. */
export const COMPARED_TOKENS = 8_192;

/**
 * Ten times the usual distance of two engines that round differently (bfloat16, other kernels) over the same weights, about 0.001 nats.
 * A rollout of 1,000 tokens is then 10 nats less likely under the trainer than under the sampler.
 */
const MEAN_MAX = 0.01;
/** Truncated importance sampling cuts ratios beyond 2 or 1/2; no more than one token in a hundred should start there. */
const P99_MAX = Math.LN2;

/** Null: no token's log-probability is known. */
export function measureMismatch(
  rows: readonly ComparedRow[],
  { epsilon, epsilonHigh }: Pick<PolicyLossConfig, 'epsilon' | 'epsilonHigh'>,
): SamplerMismatch | null {
  const logRatios = rows.flatMap(({ sampled, trainer }) =>
    Array.from(trainer, (logprob, i) => logprob - sampled[i]!).filter((logRatio) => Number.isFinite(logRatio)),
  );
  const tokens = logRatios.length;
  if (tokens === 0) return null;
  const sizes = Float64Array.from(logRatios, Math.abs).sort();
  const isClipped = (logRatio: number) => Math.exp(logRatio) < 1 - epsilon || Math.exp(logRatio) > 1 + epsilonHigh;
  return {
    tokens,
    mean: logRatios.reduce((sum, logRatio) => sum + logRatio, 0) / tokens,
    p99: sizes[Math.ceil(0.99 * tokens) - 1]!,
    clipped: logRatios.filter(isClipped).length / tokens,
  };
}

export const mismatchMetrics = ({ mean, p99, clipped }: SamplerMismatch): StepMetrics => ({
  sampler_log_ratio_mean: mean,
  sampler_log_ratio_p99: p99,
  sampler_clipped_fraction: clipped,
});

export function mismatchWarnings({ tokens, mean, p99 }: SamplerMismatch): string[] {
  if (Math.abs(mean) <= MEAN_MAX && p99 <= P99_MAX) return [];
  return [
    `The trainer and the sampler of these rollouts do not agree: over ${tokens} tokens the mean log-ratio is ${mean.toPrecision(2)} nats ` +
      `(at most ±${MEAN_MAX} is usual), and one in a hundred is beyond ${p99.toPrecision(2)} (usual: ${P99_MAX.toPrecision(2)}). Rollouts of older ` +
      'weights, answers under a constraint (response_format, tool_choice), or engines that compute the model differently, cause this. ' +
      'precalculate_logprobs with truncated_importance_sampling (2) corrects for it.',
  ];
}
