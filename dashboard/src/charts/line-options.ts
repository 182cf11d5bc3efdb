// How uPlot draws a line chart and what it reports: where the pointer is, where the user clicked, which part they dragged over. Colours come
// from the style sheet. Knows nothing of metrics.
import uPlot from 'uplot';
import { distancesOf, labelsOf, markOf, marksBetween, type Axis } from './axis.ts';
import type { Line } from './curves.ts';

export interface Range {
  readonly min: number;
  readonly max: number;
}

export interface Drawing {
  readonly lines: readonly Line[];
  readonly axis: Axis;
  readonly isLogarithmic: boolean;
  readonly height: number;
  readonly syncKey: string | undefined;
  /** The marked place, whenever the chart is drawn. */
  readonly pinned: () => number | null;
  /** Index of the place under the pointer. `isOwn`: the pointer is over this chart, not over another of the same `syncKey`. */
  readonly onPointer: (index: number | null, isOwn: boolean) => void;
  readonly onClick: (index: number) => void;
  readonly onZoom: (range: Range | null) => void;
}

const FONT = '11px sans-serif';
/** Room for half of the last mark below the chart. */
const RIGHT_PX = 22;
const Y_AXIS_PX_MIN = 36;
/** More points in sight would hide the line. */
const POINTS_MAX = 30;
const CLICK_PX_MAX = 4;

export function chartOptions(element: HTMLElement, drawing: Drawing): uPlot.Options {
  const { lines, axis, isLogarithmic, height, syncKey } = drawing;
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const shared = {
    stroke: color('muted'),
    grid: { stroke: color('grid'), width: 1 },
    ticks: { show: false },
    font: FONT,
  };
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    padding: [8, RIGHT_PX, 0, 0],
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
      {
        ...shared,
        size: 28,
        space: axis === 'time' ? 90 : 60,
        incrs: distancesOf(axis),
        values: (_, marks) => marks.map((value) => (value === null ? '' : markOf(axis, value))),
      },
      {
        ...shared,
        size: (chart, labels) => yAxisPx(chart, labels),
        splits: (_, _axis, min, max, step) => marksBetween(min, max, step),
        values: (_, marks) => labelsOf(marks.map((value) => (isLogarithmic ? 10 ** value : value))),
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
        points: { show: isFaint ? false : areFew, size: 5 },
      })),
    ],
    hooks: {
      setCursor: [(chart) => drawing.onPointer(chart.cursor.idx ?? null, chart.over.matches(':hover'))],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width < CLICK_PX_MAX) return;
          drawing.onZoom({ min: placeAt(chart, left), max: placeAt(chart, left + width) });
          chart.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        },
      ],
      drawSeries: [
        (chart, series) => void (series === lines.length && drawPin(chart, drawing.pinned(), color('text'))),
      ],
      ready: [(chart) => listen(chart, drawing)],
    },
  };
}

/** Wide enough for the longest label, which uPlot would cut. */
function yAxisPx(chart: uPlot, labels: readonly string[] | null): number {
  if (!labels) return Y_AXIS_PX_MIN;
  chart.ctx.font = `${11 * devicePixelRatio}px sans-serif`;
  const widest = Math.max(0, ...labels.map((label) => chart.ctx.measureText(label).width));
  return Math.max(Y_AXIS_PX_MIN, widest / devicePixelRatio + 14);
}

/** With no more digits than an address should have. */
const placeAt = (chart: uPlot, px: number): number => Number(chart.posToVal(px, 'x').toPrecision(9));

/** A lone value has no line: without its dot, it would not be seen. */
function areFew({ data }: uPlot, series: number, from: number, to: number): boolean {
  let count = 0;
  for (let at = from; at <= to && count <= POINTS_MAX; at++) if (data[series]![at] != null) count++;
  return count <= POINTS_MAX;
}

function drawPin(chart: uPlot, x: number | null, color: string): void {
  const { ctx, bbox, scales } = chart;
  const { min, max } = scales['x']!;
  if (x === null || x < (min ?? x) || x > (max ?? x)) return;
  const left = Math.round(chart.valToPos(x, 'x', true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(left, bbox.top);
  ctx.lineTo(left, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

function listen(chart: uPlot, { onClick, onZoom, onPointer }: Drawing): void {
  let pressedAt = 0;
  chart.over.addEventListener('mousedown', ({ clientX }) => void (pressedAt = clientX));
  chart.over.addEventListener('click', ({ clientX }) => {
    const { idx } = chart.cursor;
    if (idx != null && Math.abs(clientX - pressedAt) < CLICK_PX_MAX) onClick(idx);
  });
  chart.over.addEventListener('dblclick', () => onZoom(null));
  chart.over.addEventListener('mouseleave', () => onPointer(null, true));
}

/** Values that differ only by rounding count as one value. */
function rangeOf(min: number | null, max: number | null): [number, number] {
  if (min === null || max === null) return [0, 1];
  const size = Math.max(Math.abs(min), Math.abs(max));
  if (max - min > 1e-9 * size) return uPlot.rangeNum(min, max, 0.1, true) as [number, number];
  const padding = size === 0 ? 1 : 0.1 * size;
  return [min - padding, max + padding];
}
