// The history of a model as points of charts. Pure.
import type { HistoryStep } from '../api/wire.ts';
import type { Point } from '../charts/curves.ts';

/** What a history contains in addition to its metrics. */
const SECONDS = 'seconds';
const SKIPPED = 'skipped';

export function pointsOf(steps: readonly HistoryStep[]): Point[] {
  let [tokens, samples]: [number | null, number | null] = [0, 0];
  // No job made step 0: it was there when the first job began.
  const began = steps.find(({ training_start: start }) => start !== null)?.training_start ?? null;
  return steps.map((row) => {
    const { step, metrics, type, training_start: start, training_end: end } = row;
    if (row.num_gradient_steps > 0) {
      tokens = sumOf(tokens, metrics['num_tokens']);
      samples = sumOf(samples, samplesOf(row));
    }
    const at = end ?? start ?? (row.job_id === null ? began : null);
    return {
      ...{ step, tokens, samples, kind: type?.toUpperCase() ?? null, values: valuesOf(row) },
      time: at === null ? null : Date.parse(at) / 1000,
    };
  });
}

/** Once a step is not known, neither is any sum after it. */
const sumOf = (sum: number | null, more: number | undefined): number | null =>
  sum === null || more === undefined ? null : sum + more;

/** Every gradient step of an RL job says the job's whole number; those of SFT and DPO their own, of which there is the mean. */
function samplesOf({ metrics, num_gradient_steps: steps }: HistoryStep): number | undefined {
  const ofStep = metrics['num_rows'] ?? metrics['num_pairs'];
  return metrics['num_trajectories'] ?? (ofStep === undefined ? undefined : Math.round(ofStep * steps));
}

/**
 * A checkpoint stores as `train/reward` what its gradient steps report as `reward`: both belong to one curve. If nothing could be trained
 * there were no gradient steps, and if the checkpoint was deleted only the gradient steps are left.
 */
const TRAINED = /^train\//;

const byTrainedFirst = (metrics: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(metrics).sort(([a], [b]) => Number(TRAINED.test(b)) - Number(TRAINED.test(a)));

function valuesOf({ metrics, seconds, skipped, job_id }: HistoryStep): Readonly<Record<string, number>> {
  const sum = Object.values(skipped).reduce((all, count) => all + count, 0);
  return {
    ...Object.fromEntries(byTrainedFirst(metrics).map(([name, value]) => [name.replace(TRAINED, ''), value])),
    ...(seconds === null ? {} : { [SECONDS]: seconds }),
    ...(job_id === null ? {} : { [SKIPPED]: sum }),
    ...Object.fromEntries(Object.entries(skipped).map(([reason, count]) => [`${SKIPPED}/${reason}`, count])),
  };
}
