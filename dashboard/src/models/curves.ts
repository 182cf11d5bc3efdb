// Turns the histories of models into lines over common steps, smoothed as the user chose. Pure.
import type { HistoryStep } from '../api/wire.ts';
import { byInterest } from '../jobs/gradient-steps.ts';
import type { Line } from '../ui/line-chart.tsx';

export interface ModelHistory {
  readonly id: string;
  readonly name: string;
  readonly steps: readonly HistoryStep[];
}

interface Curves {
  /** Of all models together, ascending. */
  readonly steps: readonly number[];
  /** By metric: one line per model, and if that is smoothed, a faint line with the measured values. */
  readonly metrics: ReadonlyMap<string, readonly Line[]>;
}

/** What a history contains in addition to its metrics. */
const SECONDS = 'seconds';
const SKIPPED = 'skipped';

export function curvesOf(histories: readonly ModelHistory[], smoothing: number): Curves {
  const measuredAt = histories.map(
    ({ steps }) => new Map(steps.flatMap((row) => (row.step === null ? [] : [[row.step, valuesOf(row)] as const]))),
  );
  const steps = [...new Set(measuredAt.flatMap((of) => [...of.keys()]))].sort((a, b) => a - b);
  const names = [...new Set(measuredAt.flatMap((of) => [...of.values()].flatMap((values) => Object.keys(values))))];
  const metrics = names.sort(byInterest).map((name) => {
    const lines = histories.flatMap(({ name: label }, at): Line[] => {
      const values = steps.map((step) => measuredAt[at]!.get(step)?.[name] ?? null);
      const line = { label, values, color: at + 1 };
      return smoothing === 0
        ? [line]
        : [
            { ...line, isFaint: true },
            { ...line, values: smoothed(values, smoothing) },
          ];
    });
    return [name, lines] as const;
  });
  return { steps, metrics: new Map(metrics) };
}

/**
 * A checkpoint stores as `train/reward` what its gradient steps report as `reward`: both belong to one curve. If nothing could be trained
 * there were no gradient steps, and if the checkpoint was deleted only the gradient steps are left.
 */
const TRAINED = /^train\//;

const byTrainedFirst = (metrics: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(metrics).sort(([a], [b]) => Number(TRAINED.test(b)) - Number(TRAINED.test(a)));

function valuesOf({
  metrics,
  seconds,
  skipped,
  job_id,
}: ModelHistory['steps'][number]): Readonly<Record<string, number>> {
  const sum = Object.values(skipped).reduce((all, count) => all + count, 0);
  return {
    ...Object.fromEntries(byTrainedFirst(metrics).map(([name, value]) => [name.replace(TRAINED, ''), value])),
    ...(seconds === null ? {} : { [SECONDS]: seconds }),
    ...(job_id === null ? {} : { [SKIPPED]: sum }),
    ...Object.fromEntries(Object.entries(skipped).map(([reason, count]) => [`${SKIPPED}/${reason}`, count])),
  };
}

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
