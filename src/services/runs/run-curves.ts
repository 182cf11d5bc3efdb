// The curves of a run: of each logged number, so many points as a chart can show. Consecutive lines share a point, which has the last
// value that they logged under the name, with its own step: a number that few lines have loses nothing to the others. Bounded in names
// and values, whatever a script logs. Knows no storage.
import { readLoggedObject } from './run-json.ts';

export interface Curve {
  /** Ascending with the lines. */
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

export interface CurveSampler {
  add(line: number, content: string): void;
  readonly curves: () => ReadonlyMap<string, Curve>;
  /** Names beyond the limit, which have no curve. */
  readonly leftOut: () => number;
}

/** Values of all curves together: about 4 MB of JSON. */
const VALUES_MAX = 200_000;
const NAMES_MAX = 2_000;
const NAME_CHARACTERS_MAX = 200;

interface Series {
  lines: number[];
  steps: number[];
  values: number[];
}

export function createCurveSampler(pointsMax: number, lineCount: number, valuesMax = VALUES_MAX): CurveSampler {
  const all = new Map<string, Series>();
  const leftOut = new Set<string>();
  let linesPerPoint = Math.max(1, Math.ceil(lineCount / pointsMax));
  let size = 0;

  const pointOf = (line: number): number => Math.floor(line / linesPerPoint);

  function put(name: string, line: number, step: number, value: number): void {
    let series = all.get(name);
    if (!series) {
      if (all.size >= NAMES_MAX || name.length > NAME_CHARACTERS_MAX) {
        if (leftOut.size < NAMES_MAX) leftOut.add(name.slice(0, NAME_CHARACTERS_MAX));
        return;
      }
      all.set(name, (series = { lines: [], steps: [], values: [] }));
    }
    const last = series.lines.at(-1);
    const at = last !== undefined && pointOf(last) === pointOf(line) ? series.lines.length - 1 : series.lines.length;
    if (at === series.lines.length) size++;
    [series.lines[at], series.steps[at], series.values[at]] = [line, step, value];
  }

  function coarsen(): void {
    linesPerPoint *= 2;
    size = 0;
    for (const [name, { lines, steps, values }] of all) {
      const isLast = lines.map((line, at) => at === lines.length - 1 || pointOf(lines[at + 1]!) !== pointOf(line));
      const kept = (of: readonly number[]) => of.filter((_, at) => isLast[at]);
      all.set(name, { lines: kept(lines), steps: kept(steps), values: kept(values) });
      size += isLast.filter(Boolean).length;
    }
  }

  return {
    add(line, content) {
      const row = readLoggedObject(content);
      if (!row) return;
      const { _step: logged, ...rest } = row;
      const step = typeof logged === 'number' ? logged : line;
      for (const [name, value] of numbersOf(rest)) put(name, line, step, value);
      while (size > valuesMax && linesPerPoint < lineCount) coarsen();
    },
    curves: () => all,
    leftOut: () => leftOut.size,
  };
}

/** Numbers by name; those inside objects are named `outer.inner`, as the library names them. */
function* numbersOf(row: Readonly<Record<string, unknown>>, prefix = ''): Generator<[string, number]> {
  for (const [key, value] of Object.entries(row)) {
    if (typeof value === 'number') yield [prefix + key, value];
    else if (typeof value === 'object' && value !== null && !Array.isArray(value))
      yield* numbersOf(value as Readonly<Record<string, unknown>>, `${prefix}${key}.`);
  }
}
