// The section of a page that shows how the metrics of one or more tracks moved: a chart per metric, with the controls above. Metrics that never
// changed are a list, and if there is only one place, so is everything. What is shown is in the address.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { counted } from '../ui/numbers.ts';
import { Section } from '../ui/page-head.tsx';
import { Empty } from '../ui/states.tsx';
import { nameOf } from './axis.ts';
import { ChartControls } from './chart-controls.tsx';
import { useChartView } from './chart-view.ts';
import { axesOf, curvesOf, type Curve, type Track } from './curves.ts';
import { LineChart } from './line-chart.tsx';
import { MetricTiles, MetricValues } from './metric-values.tsx';
import './charts.css';

interface MetricChartsProps {
  readonly title: string;
  /** At most as many as there are colours: 8. */
  readonly tracks: readonly Track[];
  /** Further controls. */
  readonly aside?: ComponentChildren;
  /** Shown while nothing was measured. */
  readonly empty: string;
}

const SHOWN_FIRST = 8;

export function MetricCharts({ title, tracks, aside, empty }: MetricChartsProps) {
  const { view, change, point } = useChartView();
  const { axis, smoothing, isLogarithmic, range, at } = view;
  const { x, curves, unplaced } = useMemo(() => curvesOf(tracks, axis, smoothing), [tracks, axis, smoothing]);
  const moving = curves.filter(({ constant }) => constant === null);
  const constant = curves.filter((curve) => curve.constant !== null);
  const isOne = curves.length > 0 && x.length === 1 && tracks.length === 1;
  const drawn = chosenOf(view.metrics, moving, curves);
  const controls = curves.length > 0 && !isOne && (
    <ChartControls
      view={view}
      change={change}
      axes={axesOf(tracks)}
      curves={curves}
      shown={new Set(drawn.map(({ metric }) => metric))}
    />
  );
  return (
    <Section
      title={title}
      aside={
        <>
          {aside} {controls}
        </>
      }
    >
      {curves.length === 0 && unplaced === 0 && <Empty title={empty} />}
      {unplaced > 0 && (
        <p class="muted small">
          Left out: {counted(unplaced, 'step')}{' '}
          {axis === 'time' ? 'whose time is not known' : `whose ${axis} were not counted`}.{' '}
          <button type="button" class="link" onClick={() => change({ axis: 'step' })}>
            Show over steps
          </button>
        </p>
      )}
      {isOne ? (
        <MetricTiles curves={curves} place={nameOf(axis, x[0]!)} />
      ) : (
        <>
          <div class="charts">
            {drawn.map(({ title, lines }) => (
              <LineChart
                key={title}
                {...{ title, x, lines, axis, isLogarithmic, range }}
                pinned={at}
                onZoom={(range) => change({ range })}
                onPin={(at) => change({ at })}
                onPoint={point}
                syncKey="metrics"
              />
            ))}
          </div>
          {constant.length > 0 && (
            <details class="folded">
              <summary>{counted(constant.length, 'metric')} did not change</summary>
              <MetricValues curves={constant} />
            </details>
          )}
        </>
      )}
    </Section>
  );
}

/** Chosen metrics are drawn even if they never changed: the user asked for them. */
function chosenOf(
  metrics: readonly string[] | null,
  moving: readonly Curve[],
  all: readonly Curve[],
): readonly Curve[] {
  if (metrics === null) return moving.slice(0, SHOWN_FIRST);
  return all.filter(({ metric }) => metrics.includes(metric));
}
