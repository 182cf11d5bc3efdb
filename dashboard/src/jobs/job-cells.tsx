// Table cells about a job: its name, its progress, its remaining time.
import type { Job, Model } from '../api/wire.ts';
import { hrefTo } from '../router.ts';
import { percent } from '../ui/numbers.ts';
import { Progress } from '../ui/status.tsx';
import { Text } from '../ui/text.tsx';
import { duration, useNow } from '../ui/time.tsx';

export const JOBS_PATH = '/jobs';

export const JobLink = ({ job }: { job: Pick<Job, 'id' | 'type' | 'step'> }) => (
  <a href={hrefTo('/jobs/{id}', { id: job.id })}>
    {job.type.toUpperCase()} {job.step === null ? job.id.slice(0, 8) : `step ${job.step}`}
  </a>
);

export const ModelLink = ({ model }: { model: Pick<Model, 'id' | 'project' | 'name'> }) => (
  <a href={hrefTo('/models/{id}', { id: model.id })}>
    <Text>{`${model.project}/${model.name}`}</Text>
  </a>
);

export const JobProgress = ({ job }: { job: Pick<Job, 'progress' | 'step'> }) => (
  <span class="row nowrap">
    <Progress value={job.progress} label="Progress" />
    <span>{percent(job.progress)}</span>
  </span>
);

/** Assumes that the rest takes as long per share of progress as what is done. */
export function TimeLeft({ job }: { job: Pick<Job, 'progress' | 'training_start'> }) {
  const nowMs = useNow(1_000);
  if (job.training_start === null || job.progress <= 0) return <span class="muted">–</span>;
  const ranS = (nowMs - Date.parse(job.training_start)) / 1000;
  return <span>{duration((ranS * (1 - job.progress)) / job.progress)}</span>;
}

/** Duration of a job that ended. */
export function took({
  training_start: start,
  training_end: end,
}: Pick<Job, 'training_start' | 'training_end'>): string {
  return start === null || end === null ? '–' : duration((Date.parse(end) - Date.parse(start)) / 1000);
}
