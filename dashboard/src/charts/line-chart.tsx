// A titled chart of lines over one axis, drawn by uPlot. Below it stand the values at one place, which is named: under the pointer, else
// where the user clicked, else the last in sight. Drag to zoom, double click to see all again; its numbers and its picture can be
// downloaded. Knows nothing of metrics.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { measured } from '../ui/numbers.ts';
import { Text } from '../ui/text.tsx';
import { nameOf, type Axis } from './axis.ts';
import { savePicture, saveTable } from './chart-files.ts';
import type { Line } from './curves.ts';
import { chartOptions, type Range } from './line-options.ts';

interface LineChartProps {
  readonly title: string;
  /** Ascending. */
  readonly x: readonly number[];
  readonly lines: readonly Line[];
  readonly axis?: Axis;
  /** Applies only if some value is positive. */
  readonly isLogarithmic?: boolean;
  /** Null: all. */
  readonly range?: Range | null;
  readonly onZoom?: (range: Range | null) => void;
  /** The marked place; null: none. */
  readonly pinned?: number | null;
  readonly onPin?: (x: number | null) => void;
  /** The place under the pointer; null once the pointer leaves. */
  readonly onPoint?: (x: number | null) => void;
  /** Charts with the same key share their pointer. */
  readonly syncKey?: string;
  readonly height?: number;
  /** What the values are. */
  readonly children?: ComponentChildren;
}

export function LineChart(props: LineChartProps) {
  const { title, x, lines, axis = 'step', range = null, pinned = null, syncKey, height = 150 } = props;
  const isLogarithmic = props.isLogarithmic === true && lines.some(({ values }) => values.some(isPositive));
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [pointer, setPointer] = useState<number | null>(null);
  const scheme = useColorScheme();
  const drawn = JSON.stringify([axis, lines.map(({ label, color, isFaint }) => [label, color, isFaint])]);

  // A chart lives as long as its lines are the same; new numbers are set on it, and zoom and pointer stay.
  useEffect(() => {
    const element = place.current!;
    const options = chartOptions(element, {
      ...{ lines, axis, isLogarithmic, height, syncKey },
      pinned: () => latest.current.pinned ?? null,
      onZoom: (next) => latest.current.onZoom?.(next),
      onClick: (at) => {
        const { x, pinned, onPin } = latest.current;
        onPin?.(x[at] === pinned ? null : (x[at] ?? null));
      },
      onPointer: (at, isOwn) => {
        setPointer(at);
        if (isOwn) latest.current.onPoint?.(at === null ? null : (latest.current.x[at] ?? null));
      },
    });
    const made = new uPlot(options, [[], ...lines.map(() => [])], element);
    chart.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      chart.current = null;
      resized.disconnect();
      made.destroy();
    };
  }, [drawn, isLogarithmic, height, syncKey, scheme]);

  useEffect(() => {
    const { current } = chart;
    if (!current) return;
    current.setData([[...x], ...lines.map(({ values }) => drawable(values, isLogarithmic))], range === null);
    if (range !== null) current.setScale('x', { ...range });
  }, [x, lines, range, drawn, isLogarithmic, height, syncKey, scheme]);
  useEffect(() => chart.current?.redraw(false), [pinned]); // with the scales that the numbers just set

  const named = lines.filter(({ isFaint }) => !isFaint);
  const at = placeShown(x, named, pointer, pinned, range);
  const shown = x[at] === undefined ? 'nothing yet' : nameOf(axis, x[at]);
  const legend = named.map(({ label, values, color }) => {
    const known = lastKnown(values, at);
    const value = known === null ? '–' : measured(values[known]);
    return { label, color, value, note: known === null || known === at ? '' : ` (${nameOf(axis, x[known]!)})` };
  });
  const file = { title, axis, x, lines, range };
  return (
    <figure class="chart panel" aria-label={title}>
      <div class="chart-head">
        <h3>
          <Text>{title}</Text>
        </h3>
        <span class="chart-files">
          <button type="button" class="link" aria-label={`Download ${title} as CSV`} onClick={() => saveTable(file)}>
            CSV
          </button>
          <button
            type="button"
            class="link"
            aria-label={`Download ${title} as a PNG picture`}
            onClick={() => void savePicture(place.current!, { title, shown, legend })}
          >
            PNG
          </button>
        </span>
      </div>
      {props.children}
      <div
        ref={place}
        class="chart-plot"
        style={{ minHeight: `${height}px` }}
        role="img"
        aria-label={`${title}. ${named.map(describe).join('; ')}`}
        data-from={range?.min}
        data-to={range?.max}
      />
      <figcaption>
        <span class="muted">{shown}</span>
        {legend.map(({ label, color, value, note }) => (
          <span key={label} class="legend">
            <i class={`swatch series-${color}`} />
            {named.length > 1 && <Text>{label}</Text>} <b>{value}</b>
            {note !== '' && <span class="muted">{note}</span>}
          </span>
        ))}
        {named.length < lines.length && <span class="muted">smoothed</span>}
      </figcaption>
    </figure>
  );
}

/** Index of the place whose values stand below the chart. */
function placeShown(
  x: readonly number[],
  lines: readonly Line[],
  pointer: number | null,
  pinned: number | null,
  range: Range | null,
): number {
  if (pointer !== null) return pointer;
  const marked = pinned === null ? -1 : x.indexOf(pinned);
  if (marked !== -1) return marked;
  const isSeen = (at: number) => range === null || (x[at]! >= range.min && x[at]! <= range.max);
  const lasts = lines.map(({ values }) => values.findLastIndex((value, at) => value !== null && isSeen(at)));
  return Math.max(0, ...lasts);
}

/** The place itself, or the last one before it where the line was measured: a line may have other places than its neighbours. */
function lastKnown(values: Line['values'], at: number): number | null {
  for (let known = at; known >= 0; known--) if ((values[known] ?? null) !== null) return known;
  return null;
}

function describe({ label, values }: Line): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return `${label}: no values`;
  const [least, greatest] = known.reduce(
    ([a, b], value) => [Math.min(a, value), Math.max(b, value)],
    [Infinity, -Infinity],
  );
  return `${label}: from ${measured(known[0])} to ${measured(known.at(-1))}, between ${measured(least)} and ${measured(greatest)}`;
}

const isPositive = (value: number | null): value is number => value !== null && value > 0;

/** A logarithmic axis is a linear axis of logarithms: it may cover less than a power of ten. */
const drawable = (values: Line['values'], isLogarithmic: boolean): (number | null)[] =>
  values.map((value) => (isLogarithmic ? (isPositive(value) ? Math.log10(value) : null) : value));

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
