// Quantiles of a list of times.
export interface Quantiles {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export const quantile = (xs: readonly number[], q: number): number =>
  [...xs].sort((a, b) => a - b)[Math.min(xs.length - 1, Math.floor(xs.length * q))] ?? NaN;

const rounded = (ms: number): number => Math.round(ms * 100) / 100;

export const quantiles = (xs: readonly number[]): Quantiles => ({
  count: xs.length,
  p50: rounded(quantile(xs, 0.5)),
  p99: rounded(quantile(xs, 0.99)),
  max: rounded(quantile(xs, 1)),
});
