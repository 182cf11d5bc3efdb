// Curves of every metric over the steps of one or more models: smoothed, logarithmic, with a common zoom.
import { useMemo, useState } from 'preact/hooks';
import { listAll } from '../api/pages.ts';
import { useLoad } from '../api/use-load.ts';
import type { HistoryStep } from '../api/wire.ts';
import { LineChart, type Range } from '../ui/line-chart.tsx';
import { Section } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import { CurveControls, type CurveChoice } from './curve-controls.tsx';
import { curvesOf, type ModelHistory } from './curves.ts';

const SHOWN_FIRST = 8;
/** Colours distinguish at most this many. */
const MODELS_MAX = 8;

interface MetricCurvesProps {
  readonly modelId: string;
  readonly name: string;
  /** Changes when there is new data. */
  readonly version: string;
}

export function MetricCurves({ modelId, name, version }: MetricCurvesProps) {
  const [choice, setChoice] = useState<CurveChoice>({
    others: [],
    smoothing: 0,
    isLogarithmic: false,
    showsAll: false,
  });
  const [range, setRange] = useState<Range | null>(null);
  const models = [{ id: modelId, name }, ...choice.others].slice(0, MODELS_MAX);
  const ids = models.map(({ id }) => id).join(' ');
  const histories = useLoad(
    (signal) => Promise.all(models.map(async (model) => ({ ...model, steps: await historyOf(model.id, signal) }))),
    [modelId],
    { version: `${ids} ${version}` },
  );
  return (
    <Section title="Curves" aside={<CurveControls modelId={modelId} choice={choice} onChange={setChoice} />}>
      <Loaded of={histories}>
        {(value) => <Charts histories={value} choice={choice} range={range} zoom={setRange} />}
      </Loaded>
    </Section>
  );
}

async function historyOf(model_id: string, signal: AbortSignal): Promise<HistoryStep[]> {
  const steps: HistoryStep[] = [];
  for await (const step of listAll('/v1/preview/models/{model_id}/metrics', { path: { model_id }, signal }))
    steps.push(step);
  return steps;
}

interface ChartsProps {
  readonly histories: readonly ModelHistory[];
  readonly choice: CurveChoice;
  readonly range: Range | null;
  readonly zoom: (range: Range | null) => void;
}

function Charts({ histories, choice, range, zoom }: ChartsProps) {
  const { smoothing, isLogarithmic, showsAll } = choice;
  const curves = useMemo(() => curvesOf(histories, smoothing), [histories, smoothing]);
  const metrics = [...curves.metrics];
  if (metrics.length === 0) return <Empty title="No metrics yet">Curves appear with the first job.</Empty>;
  return (
    <>
      <div class="charts">
        {(showsAll ? metrics : metrics.slice(0, SHOWN_FIRST)).map(([metric, lines]) => (
          <div key={metric} class="panel">
            <h3>
              <Text>{metric}</Text>
            </h3>
            <LineChart
              label={`${metric} over the steps of the model`}
              x={curves.steps}
              lines={lines}
              isLogarithmic={isLogarithmic}
              range={range}
              onZoom={zoom}
              syncKey="model"
              height={150}
            />
          </div>
        ))}
      </div>
      {range && (
        <button class="link" type="button" onClick={() => zoom(null)}>
          Show all steps
        </button>
      )}
    </>
  );
}
