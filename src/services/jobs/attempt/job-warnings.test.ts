import { expect, test } from 'vitest';
import { hiddenMetricWarnings, jobWarnings, type JudgedJob } from './job-warnings.ts';
import { resolveRlConfig } from '#training/rl-config';

const judged = (change: {
  rate?: number;
  skipped?: Record<string, number>;
  reward?: number;
  before?: number[];
  standardError?: number | null;
  standardErrorBefore?: number | null;
  hiddenSize?: number | null;
  rows?: readonly unknown[];
  cutOff?: number;
}): string[] =>
  jobWarnings({
    plan: {
      config: resolveRlConfig(change.rate === undefined ? {} : { learningRate: change.rate }),
      skipped: change.skipped ?? {},
      counts: { num_trajectories: 8 } as JudgedJob['plan']['counts'],
      rewards: change.reward === undefined ? {} : { reward: change.reward },
      rewardStandardError: change.standardError === undefined ? 0.05 : change.standardError,
      comparedGroups: 2,
      equalGroups: 0,
      cutOffTrajectories: change.cutOff ?? 0,
      rows: (change.rows ?? [{}]) as unknown as JudgedJob['plan']['rows'],
    },
    before: (change.before ?? []).map((reward) => ({
      reward,
      standardError: change.standardErrorBefore === undefined ? 0.05 : change.standardErrorBefore,
      equalGroups: 0,
      entropy: null,
    })),
    hiddenSize: change.hiddenSize ?? null,
  });

test('a job without problems has no warnings', () => {
  expect(judged({ rate: 5e-6, hiddenSize: 4096, reward: 1, before: [3, 2, 2], skipped: { equal_rewards: 7 } })).toEqual(
    [],
  );
});

test('warnings of equal rewards and of answers without tokens give numbers', () => {
  expect(judged({ skipped: { equal_rewards: 8 }, rows: [] })).toEqual([
    expect.stringContaining('All rewards are equal'),
  ]);
  expect(judged({ skipped: { no_logprobs: 3 } })).toEqual([expect.stringContaining('3 of 8 trajectories')]);
});

test('a job in which nothing can be trained gets a warning that says why and what to do, whatever the reasons', () => {
  const [mixed] = judged({ skipped: { equal_rewards: 4, no_trainable_tokens: 4 }, rows: [] });
  expect(mixed).toMatch(
    /^Nothing was trained: .* \(4 equal_rewards, 4 no_trainable_tokens\)\. .*differ.* Send choices of the chat endpoint/,
  );
  expect(judged({ rows: [] })).toEqual([expect.stringMatching(/^Nothing was trained: .* Send groups/)]);
});

test('answers that ended at their token limit get a warning if they are more than one in ten', () => {
  expect(judged({ cutOff: 1 })).toEqual([expect.stringContaining('1 of 8 trajectories')]);
  expect(judged({ cutOff: 0 })).toEqual([]);
});

test('rewards that fell three times in a row get a warning; two falls, or falls that are not consecutive, do not', () => {
  expect(judged({ before: [0.9, 0.8, 0.7], reward: 0.6 })).toEqual([expect.stringContaining('(0.9, 0.8, 0.7, 0.6)')]);
  expect(judged({ before: [9, 0.9, 0.8, 0.7], reward: 0.6 })).toHaveLength(1);
  expect(judged({ before: [0.8, 0.7], reward: 0.6 })).toEqual([]);
  expect(judged({ before: [0.9, 0.8, 0.8], reward: 0.6 })).toEqual([]);
});

test('a fall that different prompts could explain gets no warning, whichever of the two jobs is uncertain', () => {
  const fell = (standardErrorBefore: number | null, standardError: number | null) =>
    judged({ before: [0.9, 0.8, 0.7], reward: 0.6, standardErrorBefore, standardError }).length;
  // 0.3 is three standard errors of 0.1: √(0.06² + 0.08²) = 0.1
  expect(fell(0.0599, 0.08)).toBe(1);
  expect(fell(0.0601, 0.08)).toBe(0);
  expect(fell(0.08, 0.0601)).toBe(0);
  expect(fell(0.11, 0)).toBe(0);
  expect(fell(0, 0.11)).toBe(0);
  expect(fell(0, 0)).toBe(1);
  expect(fell(null, 0)).toBe(0);
  expect(fell(0, null)).toBe(0);
});

test('a learning rate ten times above or below the usual one for the model size gets a warning; without the size there is none', () => {
  const warning = [expect.stringMatching(/learning rate .* 0\.000005 .* hidden size of 4096/)];
  for (const rate of [1e-2, 1, 4e-7, 0]) expect(judged({ rate, hiddenSize: 4096 }), String(rate)).toEqual(warning);
  for (const rate of [1e-3, 5e-4, 1e-6]) expect(judged({ rate, hiddenSize: 4096 }), String(rate)).toEqual([]);
  expect(judged({ rate: 2e-3, hiddenSize: 192 })).toEqual([]);
  expect(judged({ rate: 1 })).toEqual([]);
});

test('metrics of trajectories that have the names of the job’s own are named', () => {
  const clientMetrics = { loss: 5, reward: 9, right: 1, toString: 2 };
  expect(hiddenMetricWarnings({ clientMetrics }, { loss: 0.1, reward: 0.5, right: 1, toString: 2 })).toEqual([
    expect.stringMatching(/same name: loss, reward\. Give them other names/),
  ]);
  expect(hiddenMetricWarnings({ clientMetrics }, {})).toEqual([]);
});
