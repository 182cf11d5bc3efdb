// What the gradient steps of a job measured: numbers if there is one step, else a small chart per metric. The charts share zoom
// and pointer.
import { useMemo, useState } from 'preact/hooks';
import { LineChart, type Range } from '../ui/line-chart.tsx';
import { measured } from '../ui/numbers.ts';
import { Section } from '../ui/page-head.tsx';
import { Empty } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import { Tile, Tiles } from '../ui/tiles.tsx';
import type { StepSeries } from './gradient-steps.ts';

const SHOWN_FIRST = 8;

export function StepCharts({ series: { steps, series }, isLive }: { series: StepSeries; isLive: boolean }) {
  const [range, setRange] = useState<Range | null>(null);
  const [showsAll, setShowsAll] = useState(false);
  const all = [...series];
  const shown = showsAll ? all : all.slice(0, SHOWN_FIRST);
  const isCurve = steps.length > 1;
  const more = isCurve && all.length > SHOWN_FIRST && (
    <button class="link" type="button" onClick={() => setShowsAll(!showsAll)}>
      {showsAll ? 'Show fewer metrics' : `Show all ${all.length} metrics`}
    </button>
  );
  const zoomedOut = range && (
    <button class="link" type="button" onClick={() => setRange(null)}>
      Show all steps
    </button>
  );
  return (
    <Section
      title="Gradient steps"
      aside={
        <>
          {zoomedOut} {more}
        </>
      }
    >
      {steps.length === 0 && <Empty title={isLive ? 'No gradient steps yet' : 'The job took no gradient steps'} />}
      {steps.length === 1 && (
        <Tiles>
          {all.map(([name, [value]]) => (
            <Tile key={name} label={name.replaceAll('_', ' ')}>
              {measured(value)}
            </Tile>
          ))}
        </Tiles>
      )}
      {isCurve && (
        <div class="charts">
          {shown.map(([name, values]) => (
            <div key={name} class="panel">
              <h3>
                <Text>{name.replaceAll('_', ' ')}</Text>
              </h3>
              <MetricChart name={name} steps={steps} values={values} range={range} onZoom={setRange} />
            </div>
          ))}
        </div>
      )}
    </Section>
  );
}

interface MetricChartProps {
  readonly name: string;
  readonly steps: readonly number[];
  readonly values: readonly (number | null)[];
  readonly range: Range | null;
  readonly onZoom: (range: Range | null) => void;
}

function MetricChart({ name, steps, values, range, onZoom }: MetricChartProps) {
  const lines = useMemo(() => [{ label: name, values, color: 1 }], [name, values]);
  return (
    <LineChart
      label={`${name} over gradient steps`}
      x={steps}
      lines={lines}
      range={range}
      onZoom={onZoom}
      syncKey="job"
      height={130}
    />
  );
}
