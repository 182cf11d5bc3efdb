// Usage by day, key, project and model; the sums cover the whole range.
import { useState } from 'preact/hooks';
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { UsageDay } from '../api/wire.ts';
import { compact, whole } from '../ui/numbers.ts';
import { Section } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Tile, Tiles } from '../ui/tiles.tsx';

const DAYS = [1, 7, 30, 90];
const ROWS_MAX = 100;
const DAY_MS = 86_400_000;

const amount = (title: string, of: (row: UsageDay) => number): Column<UsageDay> => ({
  title,
  align: 'right',
  cell: (row) => whole(of(row)),
  sortBy: of,
});

const COLUMNS: readonly Column<UsageDay>[] = [
  { title: 'Day', cell: ({ date }) => date, sortBy: ({ date }) => date },
  { title: 'Model', cell: ({ model }) => <Text>{model}</Text>, isWide: true, sortBy: ({ model }) => model },
  { title: 'Project', cell: ({ project }) => (project === '' ? '–' : <Text>{project}</Text>) },
  { title: 'Key', cell: ({ api_key_id: id }) => <code title={id}>{id.slice(0, 8)}</code> },
  amount('Requests', ({ requests }) => requests),
  amount('Prompt', ({ prompt_tokens: tokens }) => tokens),
  amount('Cached', ({ cached_tokens: tokens }) => tokens),
  amount('Completion', ({ completion_tokens: tokens }) => tokens),
];

export function UsageTable() {
  const [days, setDays] = useState(7);
  const start_date = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  const usage = useLoad(
    (signal) => call('get', '/v1/usage', { query: { start_date, limit: ROWS_MAX }, signal }),
    [start_date],
  );
  const choice = (
    <label>
      Last{' '}
      <select value={days} onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}>
        {DAYS.map((each) => (
          <option key={each} value={each}>
            {each === 1 ? 'day' : `${each} days`}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <Section title="Usage" aside={choice}>
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
              <Table label="Usage" rows={data} keyOf={({ id }) => id} columns={COLUMNS} />
            )}
            {hasMore && <p class="muted small">These are the first {ROWS_MAX} rows; GET /v1/usage returns all.</p>}
          </>
        )}
      </Loaded>
    </Section>
  );
}
