// A small curve, for a table cell or a card: the latest values of something, the newest marked.

interface SparklineProps {
  readonly values: readonly number[];
  /** What the curve shows. */
  readonly label: string;
  /** As wide as its container. */
  readonly isLarge?: boolean;
}

const EDGE = 3;

export function Sparkline({ values, label, isLarge = false }: SparklineProps) {
  const [width, height] = isLarge ? [280, 56] : [96, 24];
  if (values.length === 0) return <span class="muted">–</span>;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (at: number) => EDGE + (at / Math.max(1, values.length - 1)) * (width - 2 * EDGE);
  const y = (value: number) =>
    high === low ? height / 2 : height - EDGE - ((value - low) / (high - low)) * (height - 2 * EDGE);
  const points = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
  const last = values.length - 1;
  return (
    <svg
      class={isLarge ? 'sparkline large' : 'sparkline'}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={label}
    >
      <polyline points={points.join(' ')} />
      <circle cx={x(last)} cy={y(values[last]!)} r={isLarge ? 3 : 2} />
    </svg>
  );
}
