// A short list of models, latest activity first, a page at a time: how the reward moves, and the status of the last job.
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { ModelSummary } from '../api/wire.ts';
import { ModelLink } from '../jobs/job-cells.tsx';
import { Section } from '../ui/page-head.tsx';
import { measured, whole } from '../ui/numbers.ts';
import { Sparkline } from '../ui/sparkline.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';
import { RewardCards } from './reward-cards.tsx';

const PAGE_ROWS = 50;
const REFRESH_MS = 10_000;

export function ModelList() {
  const [before, setBefore] = useState<readonly string[]>([]);
  const [name, setName] = useState('');
  const after = before.at(-1);
  const query = { limit: PAGE_ROWS, ...(after ? { after } : {}), ...(name ? { search: name } : {}) };
  const models = useLoad((signal) => call('get', '/v1/preview/model-summaries', { query, signal }), [after, name], {
    everyMs: REFRESH_MS,
  });
  const search = (
    <input
      type="search"
      aria-label="Find a model by a part of its name"
      placeholder="Find by name"
      defaultValue={name}
      onChange={({ currentTarget }) => {
        setName(currentTarget.value.trim());
        setBefore([]);
      }}
    />
  );
  return (
    <Section title="Models" aside={search}>
      <Loaded of={models}>
        {({ data, has_more: hasMore, last_id: last }) => (
          <>
            {name === '' && !after && <RewardCards models={data} />}
            {data.length === 0 ? (
              <NoModels isSearch={name !== ''} />
            ) : (
              <Models rows={data} isPart={hasMore || before.length > 0} />
            )}
            {(hasMore || after) && (
              <div class="row pager">
                <span class="muted small">
                  Models {whole(before.length * PAGE_ROWS + 1)} to {whole(before.length * PAGE_ROWS + data.length)}
                  {hasMore && ', and more'}
                </span>
                <button type="button" disabled={!after} onClick={() => setBefore(before.slice(0, -1))}>
                  Later activity
                </button>
                <button type="button" disabled={!hasMore} onClick={() => setBefore([...before, last])}>
                  Earlier activity
                </button>
              </div>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

const NoModels = ({ isSearch }: { isSearch: boolean }) =>
  isSearch ? (
    <Empty title="No model name contains this text" />
  ) : (
    <Empty title="No models yet">
      <code>POST /v1/preview/models</code> registers one; <code>npm run demo</code> trains two.
    </Empty>
  );

const COLUMNS: readonly Column<ModelSummary>[] = [
  { title: 'Model', cell: (model) => <ModelLink model={model} />, isWide: true, sortBy: ({ name }) => name },
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
