// All training jobs, newest first, filtered by model and status. What is shown is in the address.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { Job, JobOfModel } from '../api/wire.ts';
import { JOBS_PATH } from '../jobs/job-cells.tsx';
import { JobsOfModels } from '../jobs/job-table.tsx';
import { chooser, hrefTo, type PageProps } from '../router.ts';
import { CursorPager, pagePlaceOf } from '../ui/cursor-pager.tsx';
import { OptionFilter } from '../ui/field-filter.tsx';
import { ModelFilter, readModel } from '../ui/model-filter.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';

const PAGE_ROWS = 50;
const REFRESH_MS = 5_000;
const STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

export function JobsPage({ query }: PageProps) {
  const [model, status] = [query.get('model') ?? '', query.get('status') ?? ''];
  const choices = { ...(model === '' ? {} : { model }), ...(status === '' ? {} : { status }) };
  const choose = chooser(JOBS_PATH, choices);
  const place = pagePlaceOf(query);
  const found = useLoad((signal) => readPage(model, status, place.after, signal), [model, status, place.after], {
    everyMs: REFRESH_MS,
  });
  return (
    <>
      <PageHead title="Jobs" about="Training jobs of all models, newest first." />
      <div class="filters" role="search" aria-label="Jobs">
        <ModelFilter label="Model" value={model} choose={(chosen) => choose({ model: chosen?.id ?? null })} />
        <OptionFilter label="Status" value={status} among={STATUSES} choose={(each) => choose({ status: each })} />
        {model + status !== '' && <a href={hrefTo(JOBS_PATH)}>Show all</a>}
      </div>
      <Loaded of={found}>
        {(page) => (
          <>
            {page.data.length === 0 ? (
              <Empty title={model + status === '' ? 'No jobs yet' : 'No job matches'} />
            ) : (
              <JobsOfModels jobs={page.data} />
            )}
            <CursorPager
              place={place}
              page={page}
              of="jobs"
              hrefOf={(to) => hrefTo(JOBS_PATH, { ...choices, ...to })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

async function readPage(model_id: string, status: string, after: string | undefined, signal: AbortSignal) {
  const query = {
    ...{ limit: PAGE_ROWS, order: 'desc' as const, model_id },
    ...(status === '' ? {} : { status: status as Job['status'] }),
    ...(after === undefined ? {} : { after }),
  };
  const page = await call('get', '/v1/preview/training-jobs', { query, signal });
  const jobs = page.data.map(async (job): Promise<JobOfModel> => ({ ...job, model: await readModel(job.model_id) }));
  return { ...page, data: await Promise.all(jobs) };
}
