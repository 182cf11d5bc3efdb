// A short list of models, latest activity first, a page at a time: how the reward moves, and the status of the last job. Which models it
// shows (a project, a tag, the archived ones) is in the address.
import { call, type Answer } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { ModelSummary } from '../api/wire.ts';
import { ModelLink } from '../jobs/job-cells.tsx';
import { TagList } from '../models/model-labels.tsx';
import { chooseAmong as choose, hrefTo, type PageProps } from '../router.ts';
import { CursorPager, pagePlaceOf } from '../ui/cursor-pager.tsx';
import { FieldFilter } from '../ui/field-filter.tsx';
import { Section } from '../ui/page-head.tsx';
import { measured, whole } from '../ui/numbers.ts';
import { Sparkline } from '../ui/sparkline.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';
import { RewardCards } from './reward-cards.tsx';

type Projects = Answer<'/v1/preview/model-projects'>;
type ModelProject = Projects['data'][number];

const PAGE_ROWS = 50;
const REFRESH_MS = 10_000;

export function ModelList({ query }: Pick<PageProps, 'query'>) {
  const [search, project, tag, archived] = ['search', 'project', 'tag', 'archived'].map(
    (name) => query.get(name) ?? '',
  ) as [string, string, string, string];
  const choices = { search, project, tag, archived };
  const made = Object.fromEntries(Object.entries(choices).filter(([, value]) => value !== ''));
  const isFiltered = Object.keys(made).length > 0;
  const place = pagePlaceOf(query);
  const { after } = place;
  const asked = {
    ...{ limit: PAGE_ROWS, search, project, tag },
    ...(archived === 'only' ? { archived: 'only' as const } : {}),
    ...(after ? { after } : {}),
  } as const;
  const models = useLoad(
    // With its place, because the address may already name the next one.
    async (signal) => ({ place, page: await call('get', '/v1/preview/model-summaries', { query: asked, signal }) }),
    [after, JSON.stringify(made)],
    { everyMs: REFRESH_MS },
  );
  const projects = useLoad((signal) => call('get', '/v1/preview/model-projects', { signal }), []);
  const found = projects.state === 'ready' ? projects.value : null;
  const filters = (
    <>
      <FieldFilter
        label="Name"
        value={search}
        choose={(text) => choose({ search: text })}
        type="search"
        placeholder="part of it"
      />
      {found && found.data.length > 1 && (
        <ProjectFilter projects={found.data} isPart={found.has_more} value={project} choose={choose} />
      )}
      {tag !== '' && <FieldFilter label="Tag" value={tag} choose={(text) => choose({ tag: text })} type="search" />}
      {(archived === 'only' || found?.data.some(({ archived_count: count }) => count > 0)) && (
        <label>
          <input
            type="checkbox"
            checked={archived === 'only'}
            onChange={({ currentTarget }) => choose({ archived: currentTarget.checked ? 'only' : null })}
          />{' '}
          archived
        </label>
      )}
    </>
  );
  return (
    <Section title="Models" aside={filters}>
      <Loaded of={models}>
        {({ place: shown, page }) => (
          <>
            {!isFiltered && shown.after === undefined && <RewardCards models={page.data} />}
            {page.data.length === 0 ? (
              <NoModels isSearch={isFiltered} />
            ) : (
              <Models rows={page.data} isPart={page.has_more || shown.after !== undefined} />
            )}
            {(page.has_more || shown.after !== undefined) && (
              <CursorPager
                place={shown}
                page={page}
                {...totalOf(found, choices)}
                of="models"
                words={{ first: 'Latest activity', next: 'Earlier activity' }}
                hrefOf={(to) => hrefTo('/', { ...made, ...to })}
              />
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

type Choices = Readonly<Record<'search' | 'project' | 'tag' | 'archived', string>>;

/** As the projects count them: not what a search or a tag finds, and not where there are more projects than are listed. */
function totalOf(projects: Projects | null, { search, project, tag, archived }: Choices): { total?: number } {
  if (!projects || projects.has_more || search + tag !== '') return {};
  const counted = projects.data.filter(({ id }) => project === '' || id === project);
  const count = (each: ModelProject) => (archived === 'only' ? each.archived_count : each.model_count);
  return { total: counted.reduce((sum, each) => sum + count(each), 0) };
}

interface ProjectFilterProps {
  readonly projects: readonly ModelProject[];
  /** There are more projects than these. */
  readonly isPart: boolean;
  readonly value: string;
  readonly choose: (changed: { readonly project: string }) => void;
}

/** A list with counts; a field where there are more projects than a list holds. */
const ProjectFilter = ({ projects, isPart, value, choose }: ProjectFilterProps) =>
  isPart ? (
    <FieldFilter label="Project" value={value} choose={(project) => choose({ project })} />
  ) : (
    <label class="field-filter">
      Project{' '}
      <select value={value} onChange={({ currentTarget }) => choose({ project: currentTarget.value })}>
        <option value="">all</option>
        {projects.map(({ id, model_count: count, archived_count: put }) => (
          <option key={id} value={id}>
            {`${id} (${whole(count)}${put > 0 ? `, ${whole(put)} archived` : ''})`}
          </option>
        ))}
      </select>
    </label>
  );

const NoModels = ({ isSearch }: { isSearch: boolean }) =>
  isSearch ? (
    <Empty title="No model matches" />
  ) : (
    <Empty title="No models yet">
      <code>whetstone models create demo/first</code> registers one, and{' '}
      <a href="#/documentation/train-by-rl">this guide</a> trains it.
    </Empty>
  );

const COLUMNS: readonly Column<ModelSummary>[] = [
  {
    title: 'Model',
    isWide: true,
    sortBy: ({ name }) => name,
    cell: (model) => (
      <span class="row nowrap" title={[`${model.project}/${model.name}`, model.note ?? ''].join('\n').trim()}>
        <ModelLink model={model} />
        <TagList tags={model.tags} />
      </span>
    ),
  },
  { title: 'Reward', cell: (model) => <Sparkline values={valuesOf(model)} label={`Reward of ${model.name}`} /> },
  {
    title: 'Last',
    align: 'right',
    cell: (model) => measured(valuesOf(model).at(-1)),
    sortBy: (model) => valuesOf(model).at(-1) ?? -Infinity,
  },
  {
    title: 'Step',
    align: 'right',
    cell: ({ latest_step }) => latest_step ?? '–',
    sortBy: ({ latest_step }) => latest_step ?? -1,
  },
  {
    title: 'Last job',
    cell: ({ latest_job: job }) => (job ? <Status of={job.status} /> : <span class="muted">–</span>),
  },
  {
    title: 'Active',
    align: 'right',
    cell: ({ latest_job: job, created_at }) => <Ago at={job?.created_at ?? created_at} />,
    sortBy: ({ latest_job: job, created_at }) => job?.created_at ?? created_at,
  },
  { title: 'Base model', cell: ({ base_model }) => <Text>{base_model}</Text> },
];

const valuesOf = ({ rewards }: ModelSummary): number[] => rewards.map(({ reward }) => reward);

const Models = ({ rows, isPart }: { rows: readonly ModelSummary[]; isPart: boolean }) => (
  <Table label="Models" rows={rows} keyOf={({ id }) => id} columns={COLUMNS} isPart={isPart} />
);
