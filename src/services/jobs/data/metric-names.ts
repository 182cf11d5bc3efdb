// How many metrics groups of trajectories may name: each name becomes a metric of a step, and every list that shows the step has it.
import { AppError } from '#domain/errors';
import { METRIC_NAMES_MAX } from '#domain/checkpoint';
import type { TrajectoryGroup } from '#domain/trajectory';

export interface MetricNames {
  /** Returns the number of values in the group. Throws `invalid_request`: there are too many names. */
  add(group: TrajectoryGroup): number;
}

export function createMetricNames(): MetricNames {
  const names = new Set<string>();
  return {
    add(group) {
      let values = 0;
      for (const { metrics } of [group, ...group.trajectories])
        for (const name of Object.keys(metrics)) {
          names.add(name);
          values++;
        }
      if (names.size <= METRIC_NAMES_MAX) return values;
      const message = `The trajectories have more than ${METRIC_NAMES_MAX} names of metrics. A name stands for what is measured: put what differs between rollouts, such as an id, into metadata.`;
      throw new AppError('invalid_request', message, { param: 'trajectory_groups' });
    },
  };
}

/** The same groups. Throws as `MetricNames.add` when it comes to a group with one name too many. */
export async function* withBoundedMetrics(groups: AsyncIterable<TrajectoryGroup>): AsyncGenerator<TrajectoryGroup> {
  const names = createMetricNames();
  for await (const group of groups) {
    names.add(group);
    yield group;
  }
}
