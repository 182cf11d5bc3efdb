// Lines over steps, drawn by uPlot: drag to zoom, double click to see all again; the legend shows the values under the pointer. Colours
// come from the style sheet, so that they follow the user's colour scheme. Knows nothing of metrics.
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { measured, tick } from './numbers.ts';
import { Text } from './text.tsx';

export interface Line {
  readonly label: string;
  /** As many as `x` has; null: not measured at that step. */
  readonly values: readonly (number | null)[];
  /** 1 to 8: a colour of the style sheet. */
  readonly color: number;
  /** Drawn faintly: the measured values of a smoothed line. Not in the legend. */
  readonly isFaint?: boolean;
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

interface LineChartProps {
  /** What the chart shows, for screen readers. */
  readonly label: string;
  /** Ascending. */
  readonly x: readonly number[];
  readonly lines: readonly Line[];
  /** Applies only if some value is positive. */
  readonly isLogarithmic?: boolean;
  /** Null: all. */
  readonly range?: Range | null;
  readonly onZoom?: (range: Range | null) => void;
  /** Charts with the same key share their pointer. */
  readonly syncKey?: string;
  readonly height?: number;
}

export function LineChart(props: LineChartProps) {
  const { label, x, lines, range = null, onZoom, syncKey, height = 180 } = props;
  const isLogarithmic = props.isLogarithmic === true && lines.some(({ values }) => values.some(isPositive));
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const zoom = useRef(onZoom);
  zoom.current = onZoom;
  const [at, setAt] = useState<number | null>(null);
  const scheme = useColorScheme();
  const hasPoints = x.length <= POINTS_MAX;
  const drawn = JSON.stringify(lines.map(({ label, color, isFaint }) => [label, color, isFaint]));

  // A chart lives as long as its lines are the same; new numbers are set on it, and zoom and pointer stay.
  useEffect(() => {
    const element = place.current!;
    const onZoom = (range: Range | null) => zoom.current?.(range);
    const options = chartOptions(element, { lines, isLogarithmic, height, syncKey, setAt, onZoom, hasPoints });
    const made = new uPlot(options, [[], ...lines.map(() => [])], element);
    chart.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      chart.current = null;
      resized.disconnect();
      made.destroy();
    };
  }, [drawn, isLogarithmic, hasPoints, height, syncKey, scheme]);

  useEffect(() => {
    const { current } = chart;
    if (!current) return;
    current.setData([[...x], ...lines.map(({ values }) => drawable(values, isLogarithmic))], range === null);
    if (range !== null) current.setScale('x', { ...range });
  }, [x, lines, range, drawn, isLogarithmic, hasPoints, height, syncKey, scheme]);

  const named = lines.filter(({ isFaint }) => !isFaint);
  const shownAt = at ?? x.length - 1;
  return (
    <figure class="chart">
      <div
        ref={place}
        role="img"
        aria-label={`${label}. ${named.map(describe).join('; ')}`}
        data-from={range?.min}
        data-to={range?.max}
      />
      <figcaption>
        <span class="muted">{x[shownAt] === undefined ? 'nothing yet' : `step ${x[shownAt]}`}</span>
        {named.map(({ label: name, values, color }) => (
          <span key={name} class="legend">
            <i class={`swatch series-${color}`} />
            {named.length > 1 && <Text>{name}</Text>}{' '}
            <b>{measured(values[shownAt] ?? (at === null ? lastOf(values) : null))}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

const lastOf = (values: Line['values']): number | null => values.findLast((value) => value !== null) ?? null;

function describe({ label, values }: Line): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return `${label}: no values`;
  return `${label}: from ${measured(known[0])} to ${measured(known.at(-1))}, between ${measured(Math.min(...known))} and ${measured(Math.max(...known))}`;
}

const isPositive = (value: number | null): value is number => value !== null && value > 0;

/** A logarithmic axis is a linear axis of logarithms: it may cover less than a power of ten. */
const drawable = (values: Line['values'], isLogarithmic: boolean): (number | null)[] =>
  values.map((value) => (isLogarithmic ? (isPositive(value) ? Math.log10(value) : null) : value));

/** Values that differ only by rounding count as one value. */
function rangeOf(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null) return [0, 1];
  const size = Math.max(Math.abs(min), Math.abs(max));
  if (max - min > 1e-9 * size) return uPlot.rangeNum(min, max, 0.1, true) as [number, number];
  const padding = size === 0 ? 1 : 0.1 * size;
  return [min - padding, max + padding];
}

const TICKS_MAX = 50;

/** uPlot counts decimals in a number's text, finds none in `1e-7`, and would loop forever. */
function ticksBetween(min: number, max: number, step: number): number[] {
  if (!(step > 0)) return [min, max];
  const first = Math.ceil(min / step);
  const count = Math.min(TICKS_MAX, Math.floor(max / step) - first + 1);
  return Array.from({ length: Math.max(0, count) }, (_, at) => (first + at) * step);
}

/** More points would hide the line. */
const POINTS_MAX = 30;

interface Drawing extends Required<Pick<LineChartProps, 'lines' | 'isLogarithmic' | 'height'>> {
  readonly syncKey: string | undefined;
  readonly hasPoints: boolean;
  readonly setAt: (index: number | null) => void;
  readonly onZoom: (range: Range | null) => void;
}

function chartOptions(
  element: HTMLElement,
  { hasPoints, lines, isLogarithmic, height, syncKey, setAt, onZoom }: Drawing,
) {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: color('muted'),
    grid: { stroke: color('grid'), width: 1 },
    ticks: { show: false },
    font: '11px sans-serif',
  };
  const options: uPlot.Options = {
    width: element.clientWidth,
    height,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: {
      y: false,
      points: { size: 6 },
      drag: { x: true, y: false, setScale: false },
      ...(syncKey ? { sync: { key: syncKey } } : {}),
    },
    scales: {
      x: { time: false },
      y: { range: (_, min, max) => rangeOf(min, max) },
    },
    axes: [
      { ...axis, size: 28, space: 60, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000] },
      {
        ...axis,
        size: 54,
        splits: (_, _axis, min, max, step) => ticksBetween(min, max, step),
        values: (_, ticks) => ticks.map((value) => (value === null ? '' : tick(isLogarithmic ? 10 ** value : value))),
      },
    ],
    series: [
      {},
      ...lines.map(({ label, color: series, isFaint }) => ({
        label,
        stroke: color(`series-${series}`),
        width: isFaint ? 1 : 1.75,
        alpha: isFaint ? 0.3 : 1,
        spanGaps: true,
        points: { show: !isFaint && hasPoints, size: 5 },
      })),
    ],
    hooks: {
      setCursor: [({ cursor }) => setAt(cursor.idx ?? null)],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width < 4) return;
          onZoom({ min: chart.posToVal(left, 'x'), max: chart.posToVal(left + width, 'x') });
          chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        },
      ],
      ready: [({ over }) => over.addEventListener('dblclick', () => onZoom(null))],
    },
  };
  return options;
}

function useColorScheme(): boolean {
  const query = matchMedia('(prefers-color-scheme: dark)');
  const [isDark, setDark] = useState(query.matches);
  useEffect(() => {
    const follow = () => setDark(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return isDark;
}
