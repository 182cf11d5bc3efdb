// Metrics of rewards: of a job's groups, and of logged ones. Names are those that clients know.
import type { Trajectory, TrajectoryGroup } from '#domain/trajectory';
import { average, populationDeviation } from './advantage.ts';

/** `reward`, `reward_std_dev`, `exception_rate`, each trajectory metric by its name, each group metric as `group_metric_NAME`. */
export type RewardMetrics = Readonly<Record<string, number>>;

/** What the metrics of a group need: everything except its conversations. */
export interface GroupRewards extends Pick<TrajectoryGroup, 'exceptionCount' | 'metrics'> {
  readonly trajectories: readonly Pick<Trajectory, 'reward' | 'metrics'>[];
}

export const rewardsOf = ({ trajectories, exceptionCount, metrics }: TrajectoryGroup): GroupRewards => ({
  trajectories: trajectories.map(({ reward, metrics }) => ({ reward, metrics })),
  exceptionCount,
  metrics,
});

/**
 * Means over trajectories (booleans as 0 and 1; over those that have the metric). reward_std_dev is the mean over groups of
 * two or more of the population standard deviation. Empty if there is nothing to average.
 */
export function groupMetrics(groups: readonly GroupRewards[]): RewardMetrics {
  const trajectories = groups.flatMap((group) => group.trajectories);
  const exceptions = groups.reduce((sum, { exceptionCount }) => sum + exceptionCount, 0);
  const spreads = groups
    .filter((group) => group.trajectories.length > 1)
    .map((group) => populationDeviation(group.trajectories.map(({ reward }) => reward)));
  const attempts = trajectories.length + exceptions;
  return {
    ...trajectoryMetrics(groups),
    ...prefixed('group_metric_', meansByName(groups.map(({ metrics }) => metrics))),
    ...(trajectories.length > 0 ? { reward: average(trajectories.map(({ reward }) => reward)) } : {}),
    ...(spreads.length > 0 ? { reward_std_dev: average(spreads) } : {}),
    ...(attempts > 0 ? { exception_rate: exceptions / attempts } : {}),
  };
}

/** The clients' own; a job's metrics of the same names hide them. */
export const trajectoryMetrics = (groups: readonly GroupRewards[]): RewardMetrics =>
  meansByName(groups.flatMap(({ trajectories }) => trajectories.map(({ metrics }) => metrics)));

/**
 * Standard error of the mean reward: how much it would vary with other prompts, estimated from the spread of the groups' means; for a
 * single group, how much it would vary with other answers. Null with fewer than two of either.
 */
export function rewardStandardError(groups: readonly GroupRewards[]): number | null {
  const byGroup = groups
    .map(({ trajectories }) => trajectories.map(({ reward }) => reward))
    .filter((rewards) => rewards.length > 0);
  const values = byGroup.length === 1 ? byGroup[0]! : byGroup.map(average);
  return values.length < 2 ? null : populationDeviation(values) / Math.sqrt(values.length - 1);
}

function meansByName(records: readonly Readonly<Record<string, number | boolean>>[]): Record<string, number> {
  const values = new Map<string, number[]>();
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      if (!Number.isFinite(Number(value))) continue;
      const known = values.get(name);
      if (known) known.push(Number(value));
      else values.set(name, [Number(value)]);
    }
  }
  return Object.fromEntries([...values].map(([name, xs]) => [name, average(xs)]));
}

const prefixed = (prefix: string, record: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [`${prefix}${name}`, value]));
