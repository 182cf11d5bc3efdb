// The recorded runs of agents, newest first. What is shown is in the address.
import { call, type Query } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { Episode } from '../api/wire.ts';
import { EPISODES_PATH, episodeChoicesOf, type EpisodeChoices } from '../episodes/addresses.ts';
import { EpisodeFilters } from '../episodes/episode-filters.tsx';
import { EpisodeTable } from '../episodes/episode-table.tsx';
import { readName } from '../ui/model-filter.tsx';
import { hrefTo, type PageProps } from '../router.ts';
import { boundedTotal } from '../ui/counts.ts';
import { CursorPager, pagePlaceOf, type PagePlace } from '../ui/cursor-pager.tsx';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';

const PAGE_ROWS = 50;
const REFRESH_MS = 10_000;

export function EpisodesPage({ query }: PageProps) {
  const choices = episodeChoicesOf(query);
  const made = Object.fromEntries(Object.entries(choices).filter(([, value]) => value !== ''));
  const place = pagePlaceOf(query);
  const found = useLoad((signal) => findPage(choices, place, signal), [JSON.stringify(made), place.after], {
    ...(choices.search === '' && place.after === undefined ? { everyMs: REFRESH_MS } : {}),
  });
  return (
    <>
      <PageHead title="Episodes" about="Runs of agents: the calls that each made, and what it was worth." />
      <EpisodeFilters choices={choices} />
      <Loaded of={found}>
        {({ page, names, place: shown }) => (
          <>
            {page.data.length === 0 ? (
              <NoEpisodes isFiltered={Object.keys(made).length > 0} />
            ) : (
              <EpisodeTable episodes={page.data} names={names} choices={made} />
            )}
            <CursorPager
              place={shown}
              page={page}
              total={page.counts === null ? undefined : boundedTotal(page.counts, choices.status)}
              of="episodes"
              hrefOf={(to) => hrefTo(EPISODES_PATH, { ...made, ...to })}
            />
          </>
        )}
      </Loaded>
    </>
  );
}

const NoEpisodes = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No episode matches">
      <a href={hrefTo(EPISODES_PATH)}>Show all episodes</a>
    </Empty>
  ) : (
    <Empty title="No episodes yet">
      Give an agent the base URL <code>…/e/NAME/v1</code>: its calls are recorded under that name.
    </Empty>
  );

/** With its place, because the address may already name the next one. A page of a search may be empty before the end of the list. */
async function findPage(choices: EpisodeChoices, place: PagePlace, signal: AbortSignal) {
  const { model, group, status, min, max, job, search } = choices;
  const filter: Query<'/v1/preview/episodes'> = {
    limit: PAGE_ROWS,
    model_id: model,
    group,
    ...(status === '' ? {} : { status: status as Episode['status'] }),
    ...(min === '' ? {} : { reward_min: Number(min) }),
    ...(max === '' ? {} : { reward_max: Number(max) }),
    training_job_id: job,
    search,
  };
  for (let { after } = place; ;) {
    const query = { ...filter, ...(after === undefined ? {} : { after }) };
    const page = await call('get', '/v1/preview/episodes', { query, signal });
    if (page.data.length > 0 || !page.has_more) return { place, page, names: await namesOf(page.data) };
    after = page.last_id;
  }
}

async function namesOf(episodes: readonly Episode[]): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(episodes.map(({ model_id }) => model_id))];
  return new Map(await Promise.all(ids.map(async (id) => [id, await readName(id)] as const)));
}
