// Controls for what charts show: axis, smoothing, scale, and which metrics.
import { Text } from '../ui/text.tsx';
import type { Axis } from './axis.ts';
import type { ChartView } from './chart-view.ts';
import type { Curve } from './curves.ts';
import { explainMetric } from './metric-words.ts';

interface ChartControlsProps {
  readonly view: ChartView;
  readonly change: (changed: Partial<ChartView>) => void;
  readonly axes: readonly Axis[];
  readonly curves: readonly Curve[];
  /** Metrics that are drawn now. */
  readonly shown: ReadonlySet<string>;
}

export function ChartControls({ view, change, axes, curves, shown }: ChartControlsProps) {
  const metrics = [...new Set(curves.map(({ metric }) => metric))];
  return (
    <>
      <label class="check">
        Over{' '}
        <select
          value={view.axis}
          onChange={({ currentTarget: { value } }) =>
            change({ axis: axes.find((axis) => axis === value)!, range: null, at: null })
          }
        >
          {axes.map((axis) => (
            <option key={axis} value={axis}>
              {axis === 'step' ? 'steps' : axis}
            </option>
          ))}
        </select>
      </label>
      <label class="check">
        Smoothing{' '}
        <input
          type="range"
          min="0"
          max="0.95"
          step="0.05"
          value={view.smoothing}
          onInput={({ currentTarget }) => change({ smoothing: Number(currentTarget.value) })}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={view.isLogarithmic}
          onChange={() => change({ isLogarithmic: !view.isLogarithmic })}
        />{' '}
        Log scale
      </label>
      <details class="metric-choice">
        <summary>
          Metrics: {shown.size} of {metrics.length}
        </summary>
        <div class="panel">
          <div class="row">
            <button type="button" class="link" onClick={() => change({ metrics })}>
              Show all
            </button>
            {view.metrics && (
              <button type="button" class="link" onClick={() => change({ metrics: null })}>
                Show the usual ones
              </button>
            )}
          </div>
          <ul>
            {metrics.map((metric) => (
              <li key={metric}>
                <label class="check" title={explainMetric(metric) ?? undefined}>
                  <input
                    type="checkbox"
                    checked={shown.has(metric)}
                    onChange={() =>
                      change({ metrics: metrics.filter((each) => shown.has(each) !== (each === metric)) })
                    }
                  />{' '}
                  <Text>{metric}</Text>
                </label>
              </li>
            ))}
          </ul>
        </div>
      </details>
      {view.range && (
        <button class="link" type="button" onClick={() => change({ range: null })}>
          Show all {view.axis === 'step' ? 'steps' : 'of it'}
        </button>
      )}
    </>
  );
}
