// What the horizontal axis of a chart counts, how its places are named, and where both axes have their marks. Pure.
import { compact, measured, whole } from '../ui/numbers.ts';
import { duration } from '../ui/time.tsx';

export const AXES = ['step', 'time', 'tokens', 'samples'] as const;
/** `time`: in seconds from the first step. `tokens`, `samples`: all up to and with a step. */
export type Axis = (typeof AXES)[number];

/** `step 12`, `after 2 h 5 min`, `1 234 567 tokens`. */
export function nameOf(axis: Axis, x: number): string {
  if (axis === 'step') return `step ${measured(x)}`;
  return axis === 'time' ? `after ${duration(x)}` : `${whole(x)} ${axis}`;
}

/** Short, for the marks below a chart. */
export const markOf = (axis: Axis, x: number): string => (axis === 'time' ? duration(x) : compact(x));

const ROUND = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();
const SECONDS = [1, 5, 10, 30];
const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400];

/** Distances between marks, ascending. */
export const distancesOf = (axis: Axis): number[] =>
  axis === 'time'
    ? [
        ...SECONDS,
        ...[1, 2, 5, 10, 30].map((n) => n * MINUTE),
        ...[1, 2, 6, 12].map((n) => n * HOUR),
        ...ROUND.map((n) => n * DAY),
      ]
    : ROUND;

const MARKS_MAX = 50;

/** uPlot counts decimals in a number's text, finds none in `1e-7`, and would loop forever. */
export function marksBetween(min: number, max: number, step: number): number[] {
  if (!(step > 0)) return [min, max];
  const first = Math.ceil(min / step);
  const count = Math.min(MARKS_MAX, Math.floor(max / step) - first + 1);
  return Array.from({ length: Math.max(0, count) }, (_, at) => (first + at) * step);
}

const DIGITS_MAX = 10;

/** With as few digits as tell them apart: `0.5`, `1`; `0.999991`, `0.999992`. */
export function labelsOf(values: readonly number[]): string[] {
  const short = values.map((value) => withoutZeros(measured(value)));
  for (let digits = 5; digits <= DIGITS_MAX && new Set(short).size < values.length; digits++) {
    const longer = values.map((value) => withoutZeros(value.toPrecision(digits)).replace('-', '−'));
    if (new Set(longer).size === values.length) return longer;
  }
  return short;
}

const withoutZeros = (text: string): string => text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
