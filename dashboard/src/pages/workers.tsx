// Engines on other machines that are connected to this server.
import { call } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { Worker } from '../api/wire.ts';
import { compact, whole } from '../ui/numbers.ts';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Ago, duration } from '../ui/time.tsx';

const REFRESH_MS = 3_000;

const COLUMNS: readonly Column<Worker>[] = [
  { title: 'Worker', cell: ({ name }) => <Text>{name}</Text>, isWide: true, sortBy: ({ name }) => name },
  { title: 'State', cell: ({ state }) => <span class={`worker-${state}`}>{state}</span>, sortBy: ({ state }) => state },
  { title: 'Roles', cell: ({ roles }) => roles.join(', ') },
  { title: 'Base model', cell: ({ base_model }) => <Text>{base_model}</Text>, sortBy: ({ base_model }) => base_model },
  {
    title: 'Running',
    align: 'right',
    cell: ({ running, sequences_max: max }) => (max === null ? '–' : `${running} of ${max}`),
  },
  { title: 'Waiting', align: 'right', cell: ({ waiting }) => whole(waiting), sortBy: ({ waiting }) => waiting },
  { title: 'Sessions', align: 'right', cell: ({ sessions }) => whole(sessions), sortBy: ({ sessions }) => sessions },
  { title: 'Tokens', align: 'right', cell: ({ tokens }) => compact(tokens), sortBy: ({ tokens }) => tokens },
  { title: 'Adapters', align: 'right', cell: ({ adapters }) => whole(adapters.length) },
  { title: 'Silent', align: 'right', cell: ({ silent_seconds: silent }) => duration(silent) },
  { title: 'Reconnects', align: 'right', cell: ({ reconnects }) => whole(reconnects) },
  { title: 'Connected', align: 'right', cell: ({ connected_at }) => <Ago at={connected_at} /> },
  { title: 'Version', cell: ({ version }) => <Text>{version}</Text> },
];

export function Workers() {
  const workers = useLoad((signal) => call('get', '/v1/workers', { signal }), [], { everyMs: REFRESH_MS });
  return (
    <>
      <PageHead title="Workers" about="Engines on other machines that are connected to this server." />
      <Loaded of={workers}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No workers are connected">
              The server computes with its own engine. <code>whetstone workers run</code> connects another machine.
            </Empty>
          ) : (
            <Table label="Workers" rows={data} keyOf={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Loaded>
    </>
  );
}
