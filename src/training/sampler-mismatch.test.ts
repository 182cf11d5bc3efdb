import { expect, test } from 'vitest';
import { measureMismatch, mismatchMetrics, mismatchWarnings } from './sampler-mismatch.ts';

const CLIP = { epsilon: 0.2, epsilonHigh: 0.2 };
const row = (sampled: readonly number[], differences: readonly number[]) => ({
  sampled: Float32Array.from(sampled),
  trainer: Float32Array.from(sampled, (logprob, i) => logprob + differences[i]!),
});

test('mean, 99th percentile and clipped share are of all tokens that both know', () => {
  const differences = Array.from({ length: 200 }, (_, i) => (i < 3 ? -1 : 0.001)); // 1.5 % far off
  const known = row(new Array<number>(200).fill(-2), differences);
  const unknown = row([NaN, NaN], [0, 0]);
  const mismatch = measureMismatch([unknown, known], CLIP)!;
  expect(mismatch.tokens).toBe(200);
  expect(mismatch.mean).toBeCloseTo((-3 + 197 * 0.001) / 200, 5);
  expect(mismatch.p99).toBeCloseTo(1, 5);
  expect(mismatch.clipped).toBeCloseTo(3 / 200, 10);
  expect(Object.keys(mismatchMetrics(mismatch))).toEqual([
    'sampler_log_ratio_mean',
    'sampler_log_ratio_p99',
    'sampler_clipped_fraction',
  ]);
  expect(mismatchWarnings(mismatch)).toEqual([
    expect.stringMatching(/over 200 tokens the mean log-ratio is -0\.014 nats/),
  ]);
  expect(measureMismatch([unknown], CLIP)).toBeNull();
});

test('the usual difference between engines that round differently is no warning; a few tokens far off, or all a little, are', () => {
  const warnings = (differences: readonly number[]) =>
    mismatchWarnings(
      measureMismatch(
        [
          row(
            differences.map(() => -1),
            differences,
          ),
        ],
        CLIP,
      )!,
    );
  const noise = Array.from({ length: 1_000 }, (_, i) => 0.1 * Math.sin(i)); // bfloat16
  expect(warnings(noise)).toEqual([]);
  expect(warnings(noise.map((x) => x - 0.02))).toHaveLength(1);
  expect(warnings(noise.map((x, i) => (i % 50 === 0 ? (i % 100 === 0 ? 1 : -1) : x)))).toHaveLength(1);
});
