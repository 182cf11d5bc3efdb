// Charts of what runs logged: one for each metric, with a line for each run.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { MetricCharts } from '../charts/metric-charts.tsx';
import { counted } from '../ui/numbers.ts';
import { Loaded } from '../ui/states.tsx';
import type { Run } from './run-cells.tsx';
import { labelsOf, trackOf } from './run-tracks.ts';

interface RunChartsProps {
  /** At most as many as there are colours: 8. */
  readonly runs: readonly Run[];
  /** Changes when there is new data. */
  readonly version: string;
}

export function RunCharts({ runs, version }: RunChartsProps) {
  const curves = useLoad((signal) => readCurves(runs, signal), [], {
    version: `${runs.map(({ id }) => id).join(' ')} ${version}`,
  });
  return (
    <Loaded of={curves}>
      {({ tracks, leftOut }) => (
        <>
          <MetricCharts title="Curves" tracks={tracks} empty="No numbers were logged yet" />
          {leftOut > 0 && <p class="muted small">Left out: {counted(leftOut, 'more name')} than can have a curve.</p>}
        </>
      )}
    </Loaded>
  );
}

async function readCurves(runs: readonly Run[], signal: AbortSignal) {
  const labels = labelsOf(runs);
  const read = await Promise.all(
    runs.map(({ entity, project, run }) =>
      call('get', '/v1/runs/{entity}/{project}/{run}/curves', { path: { entity, project, run }, signal }),
    ),
  );
  return {
    tracks: read.map(({ curves }, at) => trackOf(runs[at]!.id, labels[at]!, curves)),
    leftOut: read.reduce((most, { left_out: count }) => Math.max(most, count), 0),
  };
}
