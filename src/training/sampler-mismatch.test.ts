import { expect, test } from 'vitest';
import { measureMismatch, mismatchMetrics, mismatchWarnings } from './sampler-mismatch.ts';

const CLIP = { epsilon: 0.2, epsilonHigh: 0.2 };
const UNCORRECTED = { truncation: null, precalculates: false };
const row = (sampled: readonly number[], differences: readonly number[], staleness: readonly number[] = []) => ({
  sampled: Float32Array.from(sampled),
  staleness: Float32Array.from(sampled, (_, i) => staleness[i] ?? NaN),
  trainer: Float32Array.from(sampled, (logprob, i) => logprob + differences[i]!),
});

test('mean, 99th percentile and clipped share are of all tokens that both know', () => {
  const differences = Array.from({ length: 200 }, (_, i) => (i < 3 ? -1 : 0.001)); // 1.5 % far off
  const known = row(new Array<number>(200).fill(-2), differences);
  const unknown = row([NaN, NaN], [0, 0]);
  const mismatch = measureMismatch([unknown, known], CLIP)!;
  expect(mismatch).toMatchObject({ stale: null, knowsSteps: false, unchanged: { tokens: 200 } });
  expect(mismatch.unchanged!.mean).toBeCloseTo((-3 + 197 * 0.001) / 200, 5);
  expect(mismatch.unchanged!.p99).toBeCloseTo(1, 5);
  expect(mismatch.unchanged!.clipped).toBeCloseTo(3 / 200, 10);
  expect(Object.keys(mismatchMetrics(mismatch))).toEqual([
    'sampler_log_ratio_mean',
    'sampler_log_ratio_p99',
    'sampler_clipped_fraction',
  ]);
  expect(mismatchWarnings(mismatch, UNCORRECTED)).toEqual([
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
      UNCORRECTED,
    );
  const noise = Array.from({ length: 1_000 }, (_, i) => 0.1 * Math.sin(i)); // bfloat16
  expect(warnings(noise)).toEqual([]);
  expect(warnings(noise.map((x) => x - 0.02))).toHaveLength(1);
  expect(warnings(noise.map((x, i) => (i % 50 === 0 ? (i % 100 === 0 ? 1 : -1) : x)))).toHaveLength(1);
});

test('what older steps sampled is measured apart from what the starting weights sampled', () => {
  const mixed = row([-1, -1, -1, -1, -1], [0, 0, 0.5, 0.5, 9], [0, 0, 1, 3, NaN]); // the step of the last is not known
  const mismatch = measureMismatch([mixed], CLIP)!;
  expect(mismatch).toMatchObject({
    knowsSteps: true,
    unchanged: { tokens: 2, mean: 0, p99: 0, clipped: 0 },
    stale: { tokens: 2, mean: 0.5, p99: 0.5, clipped: 1 },
  });
  expect(mismatchMetrics(mismatch)).toMatchObject({
    ...{ sampler_log_ratio_mean: 0, sampler_clipped_fraction: 0 },
    ...{ stale_log_ratio_mean: 0.5, stale_log_ratio_p99: 0.5, stale_clipped_fraction: 1 },
  });
  expect(mismatchWarnings(mismatch, UNCORRECTED)).toEqual([
    expect.stringMatching(/The policy has moved far since .*over 2 tokens the mean log-ratio is 0\.50 nats/),
  ]);
  const onlyStale = measureMismatch([row([-1], [0.001], [2])], CLIP)!;
  expect(Object.keys(mismatchMetrics(onlyStale)).join()).not.toContain('sampler');
  expect(mismatchWarnings(onlyStale, UNCORRECTED)).toEqual([]);
});

test('the warning names the sampler’s precision first, and says whether the job corrected for it', () => {
  const far = measureMismatch([row([-1, -1], [0.5, 0.5])], CLIP)!;
  const [rounded] = mismatchWarnings(far, { truncation: 2, precalculates: true }, 'w8a8');
  expect(rounded).toMatch(
    /--precision w8a8: int8 is nearer .* This job corrected for it by truncated importance sampling \(2\)/,
  );
  const [exact] = mismatchWarnings(far, UNCORRECTED, 'float32');
  expect(exact).toMatch(
    /look at --precision, .* precalculate_logprobs with truncated_importance_sampling \(2\) corrects/,
  );
});
