// Rewards as bars. Each bar's numbers are in its title, and all of them in the label.
import { measured } from '../ui/numbers.ts';
import { histogram, type Bar } from './histogram.ts';

const [WIDTH, HEIGHT, AXIS] = [240, 72, 16];

export function HistogramChart({ values, label }: { values: readonly number[]; label: string }) {
  const bars = histogram(values);
  if (bars.length === 0) return <p class="muted">no rewards</p>;
  const most = Math.max(...bars.map(({ count }) => count));
  const slot = WIDTH / bars.length;
  const width = Math.min(36, slot - 2);
  const said = bars.map((bar) => `${bar.count} at ${rangeOf(bar)}`).join(', ');
  return (
    <svg class="histogram" viewBox={`0 0 ${WIDTH} ${HEIGHT + AXIS}`} role="img" aria-label={`${label}: ${said}`}>
      {bars.map((bar, at) => {
        const height = bar.count === 0 ? 0 : Math.max(2, (bar.count / most) * (HEIGHT - 12));
        const middle = (at + 0.5) * slot;
        return (
          <g key={at}>
            <title>{`${bar.count} at ${rangeOf(bar)}`}</title>
            <rect x={middle - width / 2} y={HEIGHT - height} width={width} height={height} rx="1.5" />
            {bar.count > 0 && (
              <text x={middle} y={HEIGHT - height - 3} text-anchor="middle">
                {bar.count}
              </text>
            )}
            {(bar.isPoint || at === 0) && (
              <text class="axis" x={middle} y={HEIGHT + 12} text-anchor="middle">
                {shortNumber(bar.from)}
              </text>
            )}
            {!bar.isPoint && at === bars.length - 1 && (
              <text class="axis" x={middle} y={HEIGHT + 12} text-anchor="middle">
                {shortNumber(bar.to)}
              </text>
            )}
          </g>
        );
      })}
      <line x1="0" x2={WIDTH} y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
    </svg>
  );
}

const rangeOf = ({ from, to, isPoint }: Bar): string =>
  isPoint ? measured(from) : `${measured(from)} to ${measured(to)}`;

const shortNumber = (value: number): string =>
  Math.abs(value) >= 1e5 ? value.toExponential(0) : Number(value.toPrecision(3)).toString().replace('-', '−');
