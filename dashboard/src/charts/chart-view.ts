// What a page of charts shows of its curves: axis, zoom, marked place, smoothing, scale, chosen metrics. All of it is in the address, so that
// a link shows what its sender saw. The address follows a moment later, because browsers refuse to change it at every move of a pointer.
import { useEffect, useRef, useState } from 'preact/hooks';
import { changeQuery, replaceQuery, useAddress } from '../router.ts';
import { AXES, type Axis } from './axis.ts';
import type { Range } from './line-options.ts';

export interface ChartView {
  readonly axis: Axis;
  /** Weight of past values, at least 0 and below 1. */
  readonly smoothing: number;
  readonly isLogarithmic: boolean;
  /** Null: those that the page shows by itself. */
  readonly metrics: readonly string[] | null;
  /** Null: everything. */
  readonly range: Range | null;
  /** The marked place of the axis; null: none. */
  readonly at: number | null;
}

const WAIT_MS = 200;

interface UsedView {
  readonly view: ChartView;
  readonly change: (changed: Partial<ChartView>) => void;
  /** The pointer rests at a place: the address names it until the pointer leaves (null), the charts show it anyway. */
  readonly point: (x: number | null) => void;
}

export function useChartView(): UsedView {
  const { query } = useAddress();
  const [view, setView] = useState(() => readView(query));
  const written = useRef(keyOf(readView(query)));
  const pointed = useRef<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(view);
  const isChosen = useRef(false);
  latest.current = view;

  const inAddress = keyOf(readView(query));
  useEffect(() => {
    if (inAddress === written.current) return;
    written.current = inAddress;
    setView(readView(query)); // the user followed a link or changed the address
  }, [inAddress]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const write = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const shown = { ...latest.current, at: pointed.current ?? latest.current.at };
      written.current = keyOf(shown);
      (isChosen.current ? changeQuery : replaceQuery)(queryOf(shown)); // Back undoes a choice, not what a pointer did
      isChosen.current = false;
    }, WAIT_MS);
  };
  return {
    view,
    change: (changed) => {
      latest.current = { ...latest.current, ...changed };
      setView(latest.current);
      isChosen.current = true;
      write();
    },
    point: (x) => {
      pointed.current = x;
      write();
    },
  };
}

/** What is missing or makes no sense counts as not said. */
export function readView(query: URLSearchParams): ChartView {
  const numberOf = (name: string): number | null => {
    const value = Number(query.get(name) ?? NaN);
    return Number.isFinite(value) ? value : null;
  };
  const [min, max, smoothing] = [numberOf('from'), numberOf('to'), numberOf('smooth') ?? 0];
  const metrics = query.getAll('metric');
  return {
    axis: AXES.find((axis) => axis === query.get('x')) ?? 'step',
    smoothing: smoothing > 0 && smoothing < 1 ? smoothing : 0,
    isLogarithmic: query.get('scale') === 'log',
    metrics: metrics.length === 0 ? null : metrics,
    range: min !== null && max !== null && min < max ? { min, max } : null,
    at: numberOf('at'),
  };
}

export const queryOf = ({ axis, smoothing, isLogarithmic, metrics, range, at }: ChartView) => ({
  x: axis === 'step' ? null : axis,
  smooth: smoothing === 0 ? null : smoothing,
  scale: isLogarithmic ? 'log' : null,
  metric: metrics,
  from: range && range.min,
  to: range && range.max,
  at,
});

const keyOf = (view: ChartView): string => JSON.stringify(queryOf(view));
