// What the gradient steps of a job measured.
import { useMemo } from 'preact/hooks';
import { MetricCharts } from '../charts/metric-charts.tsx';
import { pointsOf } from './gradient-steps.ts';
import { Section } from '../ui/page-head.tsx';
import { Loading } from '../ui/states.tsx';
import type { JobEvents } from './use-job-events.ts';

interface StepChartsProps {
  readonly of: JobEvents;
  readonly isLive: boolean;
}

export function StepCharts({ of: { events, isRead }, isLive }: StepChartsProps) {
  const tracks = useMemo(() => [{ id: 'job', name: 'job', points: pointsOf(events) }], [events]);
  if (!isRead && !isLive)
    return (
      <Section title="Gradient steps">
        <Loading />
      </Section>
    );
  const empty = isLive ? 'No gradient steps yet' : 'The job took no gradient steps';
  return <MetricCharts title="Gradient steps" tracks={tracks} empty={empty} />;
}
