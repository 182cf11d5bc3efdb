// Curves of runs as tracks of charts: what was measured, step by step, with the time if the script logged it. Pure.
import type { Point, Track } from '../charts/curves.ts';

interface Curve {
  readonly steps: readonly number[];
  readonly values: readonly number[];
}

/** Seconds since the run began, which the library adds to every line. */
const RUNTIME = '_runtime';

/** Names that the library adds (`_timestamp`) are no metrics. */
export function trackOf(id: string, name: string, curves: Readonly<Record<string, Curve>>): Track {
  const byStep = new Map<number, Record<string, number>>();
  for (const [metric, { steps, values }] of Object.entries(curves)) {
    if (metric.startsWith('_')) continue;
    for (const [at, step] of steps.entries()) byStep.set(step, { ...byStep.get(step), [metric]: values[at]! });
  }
  const timeAt = timesOf(curves[RUNTIME]);
  const inOrder = [...byStep].sort(([a], [b]) => a - b);
  return { id, name, points: inOrder.map(([step, values]): Point => ({ step, time: timeAt(step), values })) };
}

/** A curve has one point for several lines: a step between two of them has the time of the later one. To be asked in order. */
function timesOf(curve: Curve | undefined): (step: number) => number | null {
  if (!curve) return () => null;
  let at = 0;
  return (step) => {
    while (at < curve.steps.length - 1 && curve.steps[at]! < step) at++;
    return curve.values[at] ?? null;
  };
}

/** Display names, with the id where several runs have the same one. */
export const labelsOf = (runs: readonly { readonly name: string; readonly run: string }[]): string[] =>
  runs.map(({ name, run }) => (runs.filter((other) => other.name === name).length > 1 ? `${name} (${run})` : name));
