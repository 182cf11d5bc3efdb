// Curves of every metric over the steps of a model, with those of other models if the user compares. The address names them.
import { useMemo } from 'preact/hooks';
import { readHistory } from '../api/history.ts';
import { useLoad } from '../api/use-load.ts';
import type { Track } from '../charts/curves.ts';
import { MetricCharts } from '../charts/metric-charts.tsx';
import { changeQuery, useAddress } from '../router.ts';
import { ModelFilter, readName } from '../ui/model-filter.tsx';
import { Loaded } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import { pointsOf } from './history-points.ts';

/** Colours distinguish at most this many. */
const MODELS_MAX = 8;

interface MetricCurvesProps {
  readonly modelId: string;
  /** Changes when there is new data. */
  readonly version: string;
}

export function MetricCurves({ modelId, version }: MetricCurvesProps) {
  const named = useAddress().query.getAll('with');
  const others = [...new Set(named)].filter((id) => id !== modelId).slice(0, MODELS_MAX - 1);
  const key = others.join(' ');
  const tracks = useLoad((signal) => Promise.all([modelId, ...others].map((id) => readTrack(id, signal))), [modelId], {
    version: `${key} ${version}`,
  });
  const compare = (ids: readonly string[]) => changeQuery({ with: ids });
  const shown = useMemo(() => (tracks.state === 'ready' ? tracks.value : []), [tracks]);
  const aside = (
    <>
      {shown.slice(1).map(({ id, name }) => (
        <button key={id} class="link" type="button" onClick={() => compare(others.filter((other) => other !== id))}>
          <Text>{name}</Text> ✕<span class="sr-only"> remove</span>
        </button>
      ))}
      {others.length < MODELS_MAX - 1 && (
        <ModelFilter
          label="Compare with"
          value=""
          choose={(model) => model && !others.includes(model.id) && compare([...others, model.id])}
        />
      )}
    </>
  );
  return (
    <Loaded of={tracks}>
      {(value) => (
        <MetricCharts
          title="Curves"
          tracks={value}
          aside={aside}
          empty="No metrics yet. Curves appear with the first job."
        />
      )}
    </Loaded>
  );
}

async function readTrack(model_id: string, signal: AbortSignal): Promise<Track> {
  const [name, steps] = await Promise.all([readName(model_id), readHistory(model_id, signal)]);
  return { id: model_id, name, points: pointsOf(steps) };
}
