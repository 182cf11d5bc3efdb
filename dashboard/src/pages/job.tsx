// One job: its progress, what its gradient steps measured, its settings, and the groups it received. Live until the job ends.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { JobDetail } from '../api/wire.ts';
import { EPISODES_PATH } from '../episodes/addresses.ts';
import { hasEnded } from '../evaluations/evaluations.ts';
import { JobEvaluation } from '../evaluations/job-evaluation.tsx';
import { ModelLink } from '../jobs/job-cells.tsx';
import { JobConfigSection } from '../jobs/job-config.tsx';
import { JobEventList } from '../jobs/job-event-list.tsx';
import { JobGroups } from '../jobs/job-groups.tsx';
import { JobSummary } from '../jobs/job-summary.tsx';
import { StepCharts } from '../jobs/step-charts.tsx';
import { useJobEvents } from '../jobs/use-job-events.ts';
import { Confirm } from '../ui/confirm.tsx';
import { hrefTo, type PageProps } from '../router.ts';
import { PageHead } from '../ui/page-head.tsx';
import { stepName } from '../ui/short-name.ts';
import { Failure, Loaded } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';

const REFRESH_MS = 2_000;

const isOver = ({ status }: Pick<JobDetail, 'status'>): boolean => status !== 'queued' && status !== 'running';

export function JobPage({ params }: PageProps) {
  const id = params['id']!;
  const path = { training_job_id: id };
  const jobEvents = useJobEvents(id);
  const { events, error } = jobEvents;
  const job = useLoad((signal) => call('get', '/v1/preview/training-jobs/{training_job_id}', { path, signal }), [id], {
    everyMs: REFRESH_MS,
    isLast: (value) => isOver(value) && (!value.evaluation || hasEnded(value.evaluation)),
  });
  const cancel = async () => {
    await call('post', '/v1/preview/training-jobs/{training_job_id}/cancel', { path });
    job.reload();
  };
  return (
    <Loaded of={job} page="Training job">
      {(value) => (
        <>
          <JobHead job={value} cancel={cancel} />
          <JobSummary job={value} events={events} />
          {error !== null && <Failure error={error} />}
          <JobEvaluation job={value} onChange={job.reload} />
          <StepCharts of={jobEvents} isLive={!isOver(value)} />
          {value.type === 'rl' && <JobGroups jobId={id} isOver={isOver(value)} />}
          <div class="columns">
            <JobConfigSection jobId={id} isOver={isOver(value)} />
            <JobEventList of={jobEvents} />
          </div>
        </>
      )}
    </Loaded>
  );
}

function JobHead({ job, cancel }: { job: JobDetail; cancel: () => Promise<void> }) {
  const model = useLoad(
    (signal) => call('get', '/v1/preview/models/{model_id}', { path: { model_id: job.model_id }, signal }),
    [job.model_id],
  );
  const episodes = useLoad(
    (signal) => call('get', '/v1/preview/episodes', { query: { training_job_id: job.id, limit: 1 }, signal }),
    [job.id],
  );
  const made =
    job.status === 'succeeded' && job.step !== null && model.state === 'ready' ? stepName(model.value, job.step) : null;
  return (
    <PageHead
      crumbs={
        model.state === 'ready' ? (
          <ModelLink model={model.value} />
        ) : (
          <a href={hrefTo('/models/{id}', { id: job.model_id })}>Model</a>
        )
      }
      title={`${job.type.toUpperCase()} job${job.step === null ? '' : `, step ${job.step}`}`}
      about={<code>{job.id}</code>}
      actions={
        <>
          {made !== null && (
            <a class="button" href={hrefTo('/playground', { model: made })}>
              Try <Text>{made}</Text>
            </a>
          )}
          {episodes.state === 'ready' && episodes.value.data.length > 0 && (
            <a class="button" href={hrefTo(EPISODES_PATH, { job: job.id })}>
              Episodes
            </a>
          )}
          {!isOver(job) && (
            <Confirm
              action="Cancel job"
              question={<p>The job stops at its next gradient step and makes no checkpoint.</p>}
              onConfirm={cancel}
            />
          )}
        </>
      }
    />
  );
}
