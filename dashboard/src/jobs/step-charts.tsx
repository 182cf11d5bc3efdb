// What the gradient steps of a job measured.
import { useMemo } from 'preact/hooks';
import { MetricCharts } from '../charts/metric-charts.tsx';
import { pointsOf } from './gradient-steps.ts';
import type { KeptEvent } from './kept-events.ts';

export function StepCharts({ events, isLive }: { events: readonly KeptEvent[]; isLive: boolean }) {
  const tracks = useMemo(() => [{ id: 'job', name: 'job', points: pointsOf(events) }], [events]);
  const empty = isLive ? 'No gradient steps yet' : 'The job took no gradient steps';
  return <MetricCharts title="Gradient steps" tracks={tracks} empty={empty} />;
}
