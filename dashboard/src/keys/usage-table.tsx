// Usage as sums by model and key, or by what else is chosen; the totals cover the whole range. What is shown is in the address.
import { call, type Answer } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { ApiKey } from '../api/wire.ts';
import { changeQuery } from '../router.ts';
import { compact, whole } from '../ui/numbers.ts';
import { Section } from '../ui/page-head.tsx';
import { shortName } from '../ui/short-name.ts';
import { Empty, Loaded } from '../ui/states.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Tile, Tiles } from '../ui/tiles.tsx';
import { keyName } from './usage-names.ts';

const DAYS = [1, 7, 30, 90];
const WEEK = 7;
const SUMS_MAX = 1_000;
const DAY_MS = 86_400_000;
const CHOICES = {
  'model,api_key': 'model and key',
  model: 'model',
  api_key: 'key',
  project: 'project',
  day: 'day',
  'model,api_key,project,day': 'all of these',
} as const;
const FIRST = 'model,api_key';

type Sum = Answer<'/v1/usage/sums'>['data'][number];

const amount = (title: string, of: (row: Sum) => number): Column<Sum> => ({
  title,
  align: 'right',
  cell: (row) => whole(of(row)),
  sortBy: of,
});

const AMOUNTS: readonly Column<Sum>[] = [
  amount('Requests', ({ requests }) => requests),
  amount('Prompt', ({ prompt_tokens: tokens }) => tokens),
  amount('Cached', ({ cached_tokens: tokens }) => tokens),
  amount('Completion', ({ completion_tokens: tokens }) => tokens),
  amount('All tokens', ({ total_tokens: tokens }) => tokens),
];

function columnsFor(by: string, keys: readonly ApiKey[]): readonly Column<Sum>[] {
  const named = ({ api_key_id: id }: Sum) => keyName(id ?? '', keys);
  const all: Readonly<Record<string, Column<Sum>>> = {
    day: { title: 'Day', cell: ({ date }) => date, sortBy: ({ date }) => date ?? '' },
    model: {
      title: 'Model',
      cell: ({ model }) => <Text>{shortName(model ?? '')}</Text>,
      sortBy: ({ model }) => shortName(model ?? ''),
      isWide: true,
    },
    api_key: {
      title: 'Key',
      cell: (row) => (
        <span title={row.api_key_id ?? ''}>
          <Text>{named(row)}</Text>
        </span>
      ),
      sortBy: named,
    },
    project: {
      title: 'Project',
      cell: ({ project }) => (project ? <Text>{project}</Text> : <span class="muted">none named</span>),
      sortBy: ({ project }) => project ?? '',
    },
  };
  return [...by.split(',').flatMap((part) => all[part] ?? []), ...AMOUNTS];
}

export function UsageTable({ keys, query }: { keys: readonly ApiKey[]; query: URLSearchParams }) {
  const by = Object.keys(CHOICES).find((each) => each === query.get('by')) ?? FIRST;
  const days = DAYS.find((each) => String(each) === query.get('days')) ?? WEEK;
  const start_date = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  const usage = useLoad(
    (signal) => call('get', '/v1/usage/sums', { query: { start_date, by, limit: SUMS_MAX }, signal }),
    [start_date, by],
  );
  const choices = (
    <>
      <label>
        By{' '}
        <select value={by} onChange={({ currentTarget }) => changeQuery({ by: currentTarget.value })}>
          {Object.entries(CHOICES).map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </select>
      </label>
      <label>
        Last{' '}
        <select value={days} onChange={({ currentTarget }) => changeQuery({ days: currentTarget.value })}>
          {DAYS.map((each) => (
            <option key={each} value={each}>
              {each === 1 ? 'day' : `${each} days`}
            </option>
          ))}
        </select>
      </label>
    </>
  );
  return (
    <Section title="Usage" aside={choices}>
      <Loaded of={usage}>
        {({ data, totals, has_more: hasMore }) => (
          <>
            <Tiles>
              <Tile label="Requests">{whole(totals.requests)}</Tile>
              <Tile label="Prompt tokens" note={`${compact(totals.cached_tokens)} of them cached`}>
                {compact(totals.prompt_tokens)}
              </Tile>
              <Tile label="Completion tokens">{compact(totals.completion_tokens)}</Tile>
            </Tiles>
            {data.length === 0 ? (
              <Empty title="No usage in this period" />
            ) : (
              <Table
                label="Usage"
                rows={data}
                keyOf={({ model, api_key_id: key, project, date }) => JSON.stringify([model, key, project, date])}
                columns={columnsFor(by, keys)}
                isPart={hasMore}
              />
            )}
            {hasMore && <p class="muted small">The {whole(SUMS_MAX)} largest sums; the numbers above count all.</p>}
          </>
        )}
      </Loaded>
    </Section>
  );
}
