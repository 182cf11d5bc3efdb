// Finds what needs attention among the newest jobs: failures, and warnings, each listed once per model. Pure.
import type { JobDetail, Overview } from '../api/wire.ts';

export type NewestJob = Overview['newest'][number];

export interface Concern {
  readonly kind: 'failed' | 'warned';
  /** The newest job with this failure or warning. */
  readonly job: NewestJob;
  readonly text: string;
  /** How many more jobs of the model have it. */
  readonly also: number;
}

/** Failures before warnings, each newest first. `details`: the jobs' details by id, as far as they are loaded. */
export function concernsOf(newest: readonly NewestJob[], details: ReadonlyMap<string, JobDetail>): Concern[] {
  const concerns = new Map<string, Concern>();
  const add = (kind: Concern['kind'], job: NewestJob, text: string) => {
    const key = `${kind} ${job.model.id} ${text}`;
    const known = concerns.get(key);
    concerns.set(key, known ? { ...known, also: known.also + 1 } : { kind, job, text, also: 0 });
  };
  for (const job of newest) {
    const { error_message: reason, warnings = [] } = details.get(job.id) ?? { error_message: null };
    if (job.status === 'failed') add('failed', job, reason ?? 'The job failed.');
    for (const warning of warnings) add('warned', job, warning);
  }
  const rank = ({ kind }: Concern) => (kind === 'failed' ? 0 : 1);
  return [...concerns.values()].sort((a, b) => rank(a) - rank(b));
}
