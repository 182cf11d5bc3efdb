// The home page: what is running and queued, how many tokens are used, and how the models' rewards move.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { Overview } from '../api/wire.ts';
import { Attention } from '../home/attention.tsx';
import { ModelList } from '../home/model-list.tsx';
import { useTokenRate } from '../home/token-rate.ts';
import { JOBS_PATH } from '../jobs/job-cells.tsx';
import { JobsOfModels, QueuedJobs, RunningJobs } from '../jobs/job-table.tsx';
import { hrefTo, type PageProps } from '../router.ts';
import { partOf } from '../ui/counts.ts';
import { compact, whole } from '../ui/numbers.ts';
import { PageHead, Section } from '../ui/page-head.tsx';
import { Loaded } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import { Tile, Tiles } from '../ui/tiles.tsx';

const REFRESH_MS = 3_000;

export function Home({ query }: PageProps) {
  const overview = useLoad((signal) => call('get', '/v1/overview', { signal }), [], { everyMs: REFRESH_MS });
  return (
    <>
      <PageHead title="Home" about={overview.state === 'ready' && <Server of={overview.value} />} />
      <Loaded of={overview}>
        {(value) => (
          <>
            <Numbers of={value} />
            {value.newest.length > 0 && <Attention newest={value.newest} />}
            {value.running.length > 0 && (
              <Section
                title="Running"
                aside={
                  <a href={hrefTo(JOBS_PATH, { status: 'running' })}>
                    {partOf(value.running.length, value.running_count)} running
                  </a>
                }
              >
                <RunningJobs jobs={value.running} />
              </Section>
            )}
            {value.queued.length > 0 && (
              <Section
                title="Queue"
                aside={
                  <a href={hrefTo(JOBS_PATH, { status: 'queued' })}>
                    {partOf(value.queued.length, value.queued_count)} waiting
                  </a>
                }
              >
                <QueuedJobs jobs={value.queued} />
              </Section>
            )}
          </>
        )}
      </Loaded>
      <ModelList query={query} />
      {overview.state === 'ready' && overview.value.newest.length > 0 && (
        <Section title="Newest jobs" aside={<a href={hrefTo(JOBS_PATH)}>All jobs</a>}>
          <JobsOfModels jobs={overview.value.newest} />
        </Section>
      )}
    </>
  );
}

const Server = ({ of }: { of: Overview }) => (
  <>
    <span>Whetstone {of.version}</span>
    <span>
      team <Text>{of.key.entity}</Text>
    </span>
    <span>
      serves <Text>{of.base_models.join(', ')}</Text>
    </span>
  </>
);

function Numbers({ of }: { of: Overview }) {
  const { used_today: used, queued_count: waiting, running_count: running, key } = of;
  const rate = useTokenRate(of, used.total_tokens);
  return (
    <Tiles>
      <Tile label="Running jobs">{whole(running)}</Tile>
      <Tile label="In the queue">{whole(waiting)}</Tile>
      <Tile label="Tokens per second" note="over the last minute">
        {rate === null ? '–' : compact(Math.round(rate))}
      </Tile>
      <Tile label="Tokens today" note={`${compact(used.prompt_tokens)} in, ${compact(used.completion_tokens)} out`}>
        <span title={whole(used.total_tokens)}>{compact(used.total_tokens)}</span>
      </Tile>
      <Tile label="Requests today">{compact(used.requests)}</Tile>
      {key.scopes.includes('worker') && <Workers />}
    </Tiles>
  );
}

function Workers() {
  const workers = useLoad((signal) => call('get', '/v1/workers', { signal }), [], { everyMs: REFRESH_MS });
  const count = workers.state === 'ready' ? workers.value.data.length : '–';
  return (
    <Tile label="Workers" note={count === 0 ? 'the server uses its own engine' : <a href="#/workers">all</a>}>
      {count}
    </Tile>
  );
}
