// Tables of jobs, of one model or of several, in the order of the list of which they show a part: sorting them would not sort it.
import type { Job, JobOfModel, ListedJob } from '../api/wire.ts';
import { nameSkip } from '../groups/skip-reasons.ts';
import { measured, whole } from '../ui/numbers.ts';
import { Status } from '../ui/status.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { JobLink, JobProgress, ModelLink, TimeLeft, took } from './job-cells.tsx';

const skippedOf = ({ skipped }: Job): number => Object.values(skipped).reduce((sum, count) => sum + count, 0);

const JOB: Column<Job> = { title: 'Job', cell: (job) => <JobLink job={job} /> };
const reasonsOf = ({ skipped }: Job): string =>
  Object.entries(skipped)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${whole(count)} ${nameSkip(reason)}`)
    .join(', ');

const STATUS: Column<Job> = {
  title: 'Status',
  cell: ({ status }) => <Status of={status} />,
};
const SKIPPED: Column<Job> = {
  title: 'Skipped',
  align: 'right',
  cell: (job) => (skippedOf(job) === 0 ? <span class="muted">0</span> : reasonsOf(job)),
};
const RESULT: Column<ListedJob> = {
  title: 'Result',
  align: 'right',
  cell: ({ reward, loss }) =>
    reward !== null ? `reward ${measured(reward)}` : loss !== null ? `loss ${measured(loss)}` : '–',
};
const TOOK: Column<Job> = { title: 'Duration', align: 'right', cell: took };
const CREATED: Column<Job> = {
  title: 'Submitted',
  align: 'right',
  cell: ({ created_at }) => <Ago at={created_at} />,
};

const MODEL: Column<JobOfModel> = { title: 'Model', cell: ({ model }) => <ModelLink model={model} />, isWide: true };
const PROGRESS: Column<Job> = { title: 'Progress', cell: (job) => <JobProgress job={job} /> };
const LEFT: Column<Job> = { title: 'Time left', align: 'right', cell: (job) => <TimeLeft job={job} /> };

const idOf = ({ id }: Job): string => id;

export const JobTable = ({ jobs }: { jobs: readonly ListedJob[] }) => (
  <Table label="Jobs" rows={jobs} keyOf={idOf} columns={[JOB, STATUS, RESULT, SKIPPED, TOOK, CREATED]} />
);

export const JobsOfModels = ({ jobs }: { jobs: readonly JobOfModel[] }) => (
  <Table label="Jobs" rows={jobs} keyOf={idOf} columns={[MODEL, JOB, STATUS, RESULT, SKIPPED, TOOK, CREATED]} />
);

export const RunningJobs = ({ jobs }: { jobs: readonly JobOfModel[] }) => (
  <Table label="Running jobs" rows={jobs} keyOf={idOf} columns={[MODEL, JOB, PROGRESS, LEFT, CREATED]} />
);

export const QueuedJobs = ({ jobs }: { jobs: readonly JobOfModel[] }) => (
  <Table label="Queued jobs" rows={jobs} keyOf={idOf} columns={[MODEL, JOB, CREATED]} />
);
