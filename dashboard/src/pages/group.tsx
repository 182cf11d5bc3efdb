// The page of a group that a job trained on, or that was logged for a model. Finds the group; groups/ draws it.
import { useMemo } from 'preact/hooks';
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { GroupView, SHADING } from '../groups/group-view.tsx';
import { jobGroup, loggedGroup } from '../groups/group-data.ts';
import { ModelLink } from '../jobs/job-cells.tsx';
import { hrefTo, type PageProps } from '../router.ts';

const JOB_GROUP = '/jobs/{id}/groups/{group}';
const LOGGED_GROUP = '/models/{id}/logs/{log}/groups/{group}';

/** Of a page that is reached from this one: its tokens have the same colours. */
const queryOf = (trajectory: number | undefined, shading: string | null) => ({
  ...(trajectory === undefined ? {} : { trajectory }),
  ...(shading === null ? {} : { [SHADING]: shading }),
});

export function JobGroupPage({ params, query }: PageProps) {
  const [id, group] = [params['id']!, Number(params['group'])];
  const shading = query.get(SHADING);
  const place = useMemo(
    () =>
      jobGroup(id, group, (to, trajectory) => hrefTo(JOB_GROUP, { id, group: to, ...queryOf(trajectory, shading) })),
    [id, group, shading],
  );
  const job = useLoad((signal) => readJob(id, signal), [id]);
  const known = job.state === 'ready' ? job.value : null;
  const crumbs = (
    <>
      {known && <ModelLink model={known.model} />}
      <a href={hrefTo('/jobs/{id}', { id })}>{known?.job.step == null ? 'job' : `step ${known.job.step}`}</a>
    </>
  );
  return (
    <GroupView
      place={place}
      group={group}
      one={trajectoryOf(query)}
      crumbs={crumbs}
      hasEnded={known?.hasEnded ?? null}
    />
  );
}

async function readJob(id: string, signal: AbortSignal) {
  const job = await call('get', '/v1/preview/training-jobs/{training_job_id}', {
    path: { training_job_id: id },
    signal,
  });
  const model = await call('get', '/v1/preview/models/{model_id}', { path: { model_id: job.model_id }, signal });
  return { job, model, hasEnded: !['queued', 'running'].includes(job.status) };
}

export function LoggedGroupPage({ params, query }: PageProps) {
  const [id, log, group] = [params['id']!, params['log']!, Number(params['group'])];
  const shading = query.get(SHADING);
  const place = useMemo(
    () =>
      loggedGroup(id, log, group, (to, trajectory) =>
        hrefTo(LOGGED_GROUP, { id, log, group: to, ...queryOf(trajectory, shading) }),
      ),
    [id, log, group, shading],
  );
  const model = useLoad(
    (signal) => call('get', '/v1/preview/models/{model_id}', { path: { model_id: id }, signal }),
    [id],
  );
  const crumbs = (
    <>
      {model.state === 'ready' && <ModelLink model={model.value} />}
      <a href={hrefTo('/models/{id}/trajectories', { id })}>logged</a>
    </>
  );
  return <GroupView place={place} group={group} one={trajectoryOf(query)} crumbs={crumbs} hasEnded={null} />;
}

/** The single trajectory that the address names; null: all. */
function trajectoryOf(query: URLSearchParams): number | null {
  const text = query.get('trajectory');
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}
