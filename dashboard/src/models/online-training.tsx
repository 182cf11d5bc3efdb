// The online training of a model: what its next step waits for, which groups are open, and which job runs. Draws nothing once it has
// been ended, here or elsewhere.
import { ApiError, call, type Answer } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import { EPISODES_PATH } from '../episodes/addresses.ts';
import { hrefTo } from '../router.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Facts } from '../ui/facts.tsx';
import { whole } from '../ui/numbers.ts';
import { Section } from '../ui/page-head.tsx';
import { Loaded } from '../ui/states.tsx';
import { Progress } from '../ui/status.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';

const PATH = '/v1/preview/models/{model_id}/online-training';
const REFRESH_MS = 5_000;
/** The server names so many, the oldest ones. */
const OPEN_GROUPS_MAX = 20;

type OnlineTraining = Answer<typeof PATH>;

interface OnlineTrainingSectionProps {
  readonly modelId: string;
  readonly version: string;
  readonly onEnd: () => void;
}

export function OnlineTrainingSection({ modelId, version, onEnd }: OnlineTrainingSectionProps) {
  const path = { model_id: modelId };
  const found = useLoad(
    (signal) =>
      call('get', PATH, { path, signal }).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }),
    [modelId],
    { everyMs: REFRESH_MS, version, isLast: (value) => value === null },
  );
  if (found.state !== 'failed' && (found.state === 'loading' || found.value === null)) return null;
  const end = async () => {
    await call('delete', PATH, { path });
    onEnd();
  };
  return (
    <Section
      title="Online training"
      aside={
        <>
          {found.state === 'ready' && found.value && <span>{found.value.status}</span>}
          <Confirm
            action="End"
            question={<p>The server makes no more jobs from the episodes of this model. A job that runs goes on.</p>}
            onConfirm={end}
          />
        </>
      }
    >
      <Loaded of={found}>{(value) => value && <Progressing of={value} />}</Loaded>
    </Section>
  );
}

function Progressing({ of }: { of: OnlineTraining }) {
  const {
    groups_per_step: needed,
    complete_groups: complete,
    until_step: until,
    open_groups: open,
    stale_groups: stale,
  } = of;
  const facts: (readonly [string, string])[] = [
    ['Complete groups', `${whole(complete)} of ${whole(needed)}`],
    ['Episodes of a group', `at least ${whole(of.group_size_min)}`],
    ['Staleness', of.max_staleness === null ? 'any' : `at most ${whole(of.max_staleness)}`],
    ['Step', until === null ? whole(of.step) : `${whole(of.step)} of ${whole(until)}`],
    ['Jobs made', whole(of.job_count)],
  ];
  return (
    <div class="online-progress">
      <p>
        <Text>{of.waiting_for}</Text>{' '}
        {of.running_job_id !== null && <a href={hrefTo('/jobs/{id}', { id: of.running_job_id })}>The job that runs</a>}
        {of.running_job_id === null && of.last_job_id !== null && (
          <a href={hrefTo('/jobs/{id}', { id: of.last_job_id })}>The last job</a>
        )}
      </p>
      <Progress value={Math.min(1, complete / needed)} label="Complete groups of the next step" />
      <Facts facts={facts} />
      <Groups of={of} kind="not complete" groups={open} />
      {open.length >= OPEN_GROUPS_MAX && (
        <p class="muted small">
          The oldest {OPEN_GROUPS_MAX}; there may be more.{' '}
          <a href={hrefTo(EPISODES_PATH, { model: of.model_id, status: 'open' })}>All episodes without a reward</a>
        </p>
      )}
      <Groups of={of} kind="too old" groups={stale} />
    </div>
  );
}

type OpenGroup = OnlineTraining['open_groups'][number];

function Groups({ of, kind, groups }: { of: OnlineTraining; kind: string; groups: readonly OpenGroup[] }) {
  if (groups.length === 0) return null;
  const columns = columnsOf(of, `Group that is ${kind}`);
  return <Table label={`Groups that are ${kind}`} rows={groups} keyOf={({ name }) => name} columns={columns} />;
}

const columnsOf = (
  { model_id: model, group_size_min: size }: OnlineTraining,
  title: string,
): readonly Column<OpenGroup>[] => [
  {
    title,
    isWide: true,
    cell: ({ name }) => (
      <a href={hrefTo(EPISODES_PATH, { model, group: name })}>
        <Text>{name}</Text>
      </a>
    ),
  },
  { title: 'Without a reward', align: 'right', cell: ({ open }) => whole(open) },
  { title: 'With a reward', align: 'right', cell: ({ rewarded }) => `${whole(rewarded)} of ${whole(size)}` },
];
