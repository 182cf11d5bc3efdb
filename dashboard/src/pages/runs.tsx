// Projects in which scripts logged runs with the `wandb` library.
import { type Item } from '../api/client.ts';
import { readList } from '../api/pages.ts';
import { useLoad } from '../api/use-load.ts';
import { hrefTo } from '../router.ts';
import { RUN_PROJECT_PATH } from '../runs/addresses.ts';
import { whole } from '../ui/numbers.ts';
import { PageHead } from '../ui/page-head.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';

type Project = Item<'/v1/run-projects'>;

const REFRESH_MS = 10_000;
/** A longer list is read once. */
const REFRESHED_ROWS_MAX = 100;

export function RunProjectsPage() {
  const projects = useLoad((signal) => readList('/v1/run-projects', { signal }), [], {
    everyMs: REFRESH_MS,
    isLast: ({ length }) => length > REFRESHED_ROWS_MAX,
  });
  return (
    <>
      <PageHead title="Runs" about="What scripts log here with the wandb library, by project." />
      <Loaded of={projects}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No runs yet">
              Set <code>WANDB_BASE_URL</code> to this server and <code>WANDB_API_KEY</code> to your key, and start a
              script that calls <code>wandb.init</code>.
            </Empty>
          ) : (
            <Table label="Projects" rows={rows} keyOf={({ id }) => id} columns={COLUMNS} />
          )
        }
      </Loaded>
    </>
  );
}

const COLUMNS: readonly Column<Project>[] = [
  {
    title: 'Project',
    cell: ({ project }) => (
      <a href={hrefTo(RUN_PROJECT_PATH, { entity: '~', project })}>
        <Text>{project}</Text>
      </a>
    ),
    sortBy: ({ project }) => project,
    isWide: true,
  },
  { title: 'Runs', align: 'right', cell: ({ runs }) => whole(runs), sortBy: ({ runs }) => runs },
  { title: 'Running', align: 'right', cell: ({ running }) => whole(running), sortBy: ({ running }) => running },
  {
    title: 'Last change',
    align: 'right',
    cell: ({ updated_at: at }) => <Ago at={at} />,
    sortBy: ({ updated_at: at }) => at,
  },
];
