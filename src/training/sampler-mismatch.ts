// How far the trainer's log-probabilities are from the sampler's before training. Of tokens that the job's starting weights sampled, that
// is the distance of two engines: zero if both compute the same weights exactly. Of tokens that older steps sampled, the policy has
// moved since as well; they are measured apart. Pure functions.
import type { Precision } from '#engine/capabilities';
import type { PolicyLossConfig } from './rl-config.ts';
import type { StepMetrics } from './step-metrics.ts';

/** For one row, `[trained]`. */
export interface ComparedRow {
  /** Nats; NaN: not known. */
  readonly sampled: Float32Array;
  readonly trainer: Float32Array;
  /** Steps (staleness.ts); NaN: not known. */
  readonly staleness: Float32Array;
}

/** Statistics of the log-ratios, trainer − sampler, over tokens that both know. */
export interface LogRatios {
  readonly tokens: number;
  /** An estimate of minus the KL divergence of the sampler from the trainer. */
  readonly mean: number;
  /** Of the absolute values. */
  readonly p99: number;
  /** The fraction of tokens whose ratio is outside the loss's clip range. */
  readonly clipped: number;
}

export interface SamplerMismatch {
  /** Of tokens that the starting weights sampled; if no token's step is known, of all. Null: there is none. */
  readonly unchanged: LogRatios | null;
  /** Of tokens that older steps sampled. */
  readonly stale: LogRatios | null;
  readonly knowsSteps: boolean;
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
  clip: Pick<PolicyLossConfig, 'epsilon' | 'epsilonHigh'>,
): SamplerMismatch | null {
  const compared = rows.flatMap(({ sampled, trainer, staleness }) =>
    Array.from(trainer, (logprob, i) => ({ logRatio: logprob - sampled[i]!, staleness: staleness[i]! })).filter(
      ({ logRatio }) => Number.isFinite(logRatio),
    ),
  );
  const knowsSteps = compared.some((token) => !Number.isNaN(token.staleness));
  const ratiosWhere = (holds: (staleness: number) => boolean) =>
    logRatiosOf(
      compared.filter((token) => holds(token.staleness)).map(({ logRatio }) => logRatio),
      clip,
    );
  const unchanged = ratiosWhere((staleness) => !knowsSteps || staleness === 0);
  const stale = ratiosWhere((staleness) => staleness > 0);
  return unchanged || stale ? { unchanged, stale, knowsSteps } : null;
}

function logRatiosOf(
  logRatios: readonly number[],
  { epsilon, epsilonHigh }: Pick<PolicyLossConfig, 'epsilon' | 'epsilonHigh'>,
): LogRatios | null {
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

export const mismatchMetrics = ({ unchanged, stale }: SamplerMismatch): StepMetrics => ({
  ...named('sampler', unchanged),
  ...named('stale', stale),
});

const named = (of: string, ratios: LogRatios | null): StepMetrics =>
  ratios
    ? {
        [`${of}_log_ratio_mean`]: ratios.mean,
        [`${of}_log_ratio_p99`]: ratios.p99,
        [`${of}_clipped_fraction`]: ratios.clipped,
      }
    : {};

/** `precision` of the sampler; absent: unknown. */
export function mismatchWarnings(
  { unchanged, stale, knowsSteps }: SamplerMismatch,
  { truncation, precalculates }: Pick<PolicyLossConfig, 'truncation' | 'precalculates'>,
  precision?: Precision,
): string[] {
  const correction =
    precalculates && truncation !== null
      ? `This job corrected for it by truncated importance sampling (${truncation}).`
      : 'precalculate_logprobs with truncated_importance_sampling (2) corrects for it.';
  const others = [
    'answers under a constraint (response_format, tool_choice)',
    ...(knowsSteps ? [] : ['rollouts of older weights']),
  ];
  return [
    ...(isFar(unchanged)
      ? [
          `The trainer and the sampler of these rollouts do not agree: ${numbersOf(unchanged)}. ` +
            `${roundingCause(precision)} Other causes: ${others.join(', ')}. ${correction}`,
        ]
      : []),
    ...(isFar(stale)
      ? [
          `The policy has moved far since it sampled the older rollouts: ${numbersOf(stale)}. ` +
            `Train sooner after sampling, or set max_staleness. ${correction}`,
        ]
      : []),
  ];
}

/** The first thing to look at. */
function roundingCause(precision: Precision | undefined): string {
  if (precision === 'w8a8')
    return 'The sampler runs with --precision w8a8: int8 is nearer to the trainer, and float32 agrees with it.';
  if (precision === undefined || precision === 'float32')
    return 'One of the engines rounds: look at --precision, --training-precision and --kv-cache-dtype, or at the worker.';
  return `The sampler runs with --precision ${precision}: float32 agrees with the trainer.`;
}

const isFar = (ratios: LogRatios | null): ratios is LogRatios =>
  ratios !== null && (Math.abs(ratios.mean) > MEAN_MAX || ratios.p99 > P99_MAX);

const numbersOf = ({ tokens, mean, p99 }: LogRatios): string =>
  `over ${tokens} tokens the mean log-ratio is ${mean.toPrecision(2)} nats (at most ±${MEAN_MAX} is usual), ` +
  `and one in a hundred is beyond ${p99.toPrecision(2)} (usual: ${P99_MAX.toPrecision(2)})`;
