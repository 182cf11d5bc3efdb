// All training jobs, newest first, filtered by model, kind and status. What is shown is in the address.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { Job } from '../api/wire.ts';
import { JOBS_PATH } from '../jobs/job-cells.tsx';
import { JobsOfModels } from '../jobs/job-table.tsx';
import { chooseAmong as choose, hrefTo, type PageProps } from '../router.ts';
import { countOf } from '../ui/counts.ts';
import { CursorPager, pagePlaceOf, type PagePlace } from '../ui/cursor-pager.tsx';
import { OptionFilter } from '../ui/field-filter.tsx';
import { ModelFilter, readModel } from '../ui/model-filter.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';

const PAGE_ROWS = 50;
const REFRESH_MS = 5_000;
const TYPES = ['rl', 'sft', 'dpo'] as const;
const STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

export function JobsPage({ query }: PageProps) {
  const [model, type, status] = ['model', 'type', 'status'].map((name) => query.get(name) ?? '') as [
    string,
    string,
    string,
  ];
  const isFiltered = model + type + status !== '';
  const choices = Object.fromEntries(Object.entries({ model, type, status }).filter(([, value]) => value !== ''));
  const place = pagePlaceOf(query);
  const found = useLoad(
    (signal) => readPage({ model, type, status }, place, signal),
    [model, type, status, place.after],
    {
      everyMs: REFRESH_MS,
    },
  );
  return (
    <>
      <PageHead title="Jobs" about="Training jobs of all models, newest first." />
      <div class="filters" role="search" aria-label="Jobs">
        <ModelFilter label="Model" value={model} choose={(chosen) => choose({ model: chosen?.id ?? null })} />
        <OptionFilter label="Kind" value={type} among={TYPES} choose={(each) => choose({ type: each })} />
        <OptionFilter label="Status" value={status} among={STATUSES} choose={(each) => choose({ status: each })} />
        {isFiltered && <a href={hrefTo(JOBS_PATH)}>Show all</a>}
      </div>
      <Loaded of={found}>
        {({ place: shown, page }) => (
          <>
            {page.data.length === 0 ? (
              <Empty title={isFiltered ? 'No job matches' : 'No jobs yet'} />
            ) : (
              <JobsOfModels jobs={page.data} />
            )}
            <CursorPager
              place={shown}
              page={page}
              total={countOf(page.counts, status)}
              of="jobs"
              hrefOf={(to) => hrefTo(JOBS_PATH, { ...choices, ...to })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

interface Choices {
  readonly model: string;
  readonly type: string;
  readonly status: string;
}

/** With its place, because the address may already name the next one. */
async function readPage({ model, type, status }: Choices, place: PagePlace, signal: AbortSignal) {
  const { after } = place;
  const query = {
    ...{ limit: PAGE_ROWS, order: 'desc' as const, model_id: model },
    ...(type === '' ? {} : { type: type as Job['type'] }),
    ...(status === '' ? {} : { status: status as Job['status'] }),
    ...(after === undefined ? {} : { after }),
  };
  const page = await call('get', '/v1/preview/training-jobs', { query, signal });
  const jobs = page.data.map(async (job) => ({ ...job, model: await readModel(job.model_id) }));
  return { place, page: { ...page, data: await Promise.all(jobs) } };
}
