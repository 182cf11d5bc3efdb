// The learning rate of each gradient step of an RL job that asks for more than a constant.
import type { RlConfig } from './rl-config.ts';

/** `scale`: for the whole job, from rewardSpreadTrend. */
export const rowLearningRate = ({ optimizer, sequenceCountPower }: RlConfig, sequenceCount: number, scale: number) =>
  optimizer.learningRate * scale * sequenceCount ** sequenceCountPower;

/**
 * How the spread of rewards has changed since the first step: a line fitted through (step, train/reward_std_dev), its value at the last
 * step divided by its intercept. 1 with fewer than two points or an intercept that is not positive; never below 0. Same as the
 * reference trainer's scale_learning_rate_by_reward_std_dev.
 */
export function rewardSpreadTrend(points: readonly { readonly step: number; readonly spread: number }[]): number {
  if (points.length < 2) return 1;
  const mean = (xs: readonly number[]) => xs.reduce((a, b) => a + b, 0) / xs.length;
  const [meanStep, meanSpread] = [mean(points.map(({ step }) => step)), mean(points.map(({ spread }) => spread))];
  const covariance = mean(points.map(({ step, spread }) => (step - meanStep) * (spread - meanSpread)));
  const variance = mean(points.map(({ step }) => (step - meanStep) ** 2));
  const slope = variance === 0 ? 0 : covariance / variance;
  const intercept = meanSpread - slope * meanStep;
  const lastStep = Math.max(...points.map(({ step }) => step));
  const trend = (intercept + slope * lastStep) / intercept;
  return intercept > 0 && Number.isFinite(trend) ? Math.max(0, trend) : 1;
}
