// Turns the measurements of tracks (a model, a job, a run) into lines over common places of one axis, smoothed as the user chose. Metrics
// that mean something else in another kind of training are curves of their own. Pure; knows nothing of where the numbers come from.
import { AXES, type Axis } from './axis.ts';

export interface Point {
  readonly step: number | null;
  /** Seconds, of any clock: the first of a track counts as 0. */
  readonly time?: number | null;
  /** All up to and with this step. Null: not known. */
  readonly tokens?: number | null;
  readonly samples?: number | null;
  /** Kind of training: RL, SFT. */
  readonly kind?: string | null;
  readonly values: Readonly<Record<string, number>>;
}

export interface Track {
  readonly id: string;
  readonly name: string;
  /** In the order in which they were measured. */
  readonly points: readonly Point[];
}

export interface Line {
  readonly label: string;
  /** As many as the chart has places; null: not measured there. */
  readonly values: readonly (number | null)[];
  /** 1 to 8: a colour of the style sheet. */
  readonly color: number;
  /** Drawn faintly: the measured values of a smoothed line. Not in the legend. */
  readonly isFaint?: boolean;
}

export interface Curve {
  /** `loss (SFT)` if the tracks have other losses too. */
  readonly title: string;
  /** `loss` */
  readonly metric: string;
  /** One per track, and if that is smoothed, a faint one with the measured values. */
  readonly lines: readonly Line[];
  /** The value that all tracks have at every place, if they were measured at two or more and agree. */
  readonly constant: number | null;
}

export interface Curves {
  /** Ascending. */
  readonly x: readonly number[];
  /** The most commonly read ones first. */
  readonly curves: readonly Curve[];
  /** Measurements that have no place on this axis, because what it counts is not known of them. */
  readonly unplaced: number;
}

/** What the points of the tracks are known by. */
export const axesOf = (tracks: readonly Track[]): readonly Axis[] =>
  AXES.filter((axis) => tracks.some(({ points }) => points.some((point) => (point[axis] ?? null) !== null)));

export function curvesOf(tracks: readonly Track[], axis: Axis, smoothing: number): Curves {
  const kinds = new Set(tracks.flatMap(({ points }) => points.flatMap(({ kind }) => kind ?? [])));
  const placed = tracks.map((track) => placesOf(track, axis, kinds.size > 1));
  const x = [...new Set(placed.flatMap(({ at }) => [...at.keys()]))].sort((a, b) => a - b);
  const titles = new Map(placed.flatMap(({ metrics }) => [...metrics]));
  const curves = [...titles]
    .sort(([a], [b]) => byInterest(a, b))
    .map(([title, metric]): Curve => {
      const lines = tracks.flatMap(({ name: label }, of): Line[] => {
        const values = x.map((place) => placed[of]!.at.get(place)?.[title] ?? null);
        if (values.every((value) => value === null)) return [];
        const line = { label, values, color: of + 1 };
        return smoothing === 0
          ? [line]
          : [
              { ...line, isFaint: true },
              { ...line, values: smoothed(values, smoothing) },
            ];
      });
      return { title, metric, lines, constant: constantOf(lines) };
    });
  return { x, curves, unplaced: placed.reduce((sum, { unplaced }) => sum + unplaced, 0) };
}

type Values = Readonly<Record<string, number>>;

interface Places {
  /** By place on the axis: values by the title of their curve. */
  readonly at: ReadonlyMap<number, Values>;
  /** By title. */
  readonly metrics: ReadonlyMap<string, string>;
  readonly unplaced: number;
}

function placesOf({ points }: Track, axis: Axis, hasKinds: boolean): Places {
  const at = new Map<number, Values>();
  const metrics = new Map<string, string>();
  const start = points.find(({ time }) => typeof time === 'number')?.time ?? 0;
  let unplaced = 0;
  for (const point of points) {
    const { kind, values } = point;
    const names = Object.keys(values);
    const counted = point[axis] ?? null;
    if (counted === null) {
      if (names.length > 0) unplaced++;
      continue;
    }
    const place = axis === 'time' ? counted - start : counted;
    const titled = names.map((name) => {
      const title = hasKinds && kind && OF_A_KIND.test(name) ? `${name} (${kind})` : name;
      metrics.set(title, name);
      return [title, values[name]!] as const;
    });
    at.set(place, { ...at.get(place), ...Object.fromEntries(titled) });
  }
  return { at, metrics, unplaced };
}

/** A policy loss, a mean −log π and a preference loss have nothing in common but the name, and neither have their gradients. */
const OF_A_KIND = /(^|\/)(loss|grad_norm)$/;

function constantOf(lines: readonly Line[]): number | null {
  const known = lines.filter(({ isFaint }) => !isFaint).flatMap(({ values }) => values.filter((each) => each !== null));
  const [first] = known;
  if (first === undefined || known.length === 1) return null;
  return known.every((value) => Math.abs(value - first) <= ROUNDING * Math.abs(first)) ? first : null;
}

/** Means of equal values may differ in their last bits. */
const ROUNDING = 1e-9;

/**
 * Exponential moving average with `weight` (0 to 1) on the past, divided by the weights so far, so that the first values are not
 * pulled to zero (the correction of Adam, arXiv:1412.6980 §3). Gaps stay gaps.
 */
export function smoothed(values: readonly (number | null)[], weight: number): (number | null)[] {
  let [sum, weights] = [0, 0];
  return values.map((value) => {
    if (value === null) return null;
    sum = weight * sum + (1 - weight) * value;
    weights = weight * weights + (1 - weight);
    return sum / weights;
  });
}

const FIRST = ['reward', 'loss', 'kl', 'entropy', 'grad_norm', 'learning_rate'];

/** Of a metric or the title of its curve: well-known ones have the lowest. */
export function rankOf(title: string): number {
  const name = title.replace(/ \(\w+\)$/, '');
  const at = FIRST.findIndex((known) => name === known || name.endsWith(`/${known}`));
  return at === -1 ? FIRST.length : at;
}

/** Well-known metrics first, then by name. */
export const byInterest = (a: string, b: string): number => rankOf(a) - rankOf(b) || a.localeCompare(b);
