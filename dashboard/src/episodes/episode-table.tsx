// A page of episodes. Sorted by the server alone: sorting a page would not sort the list.
import type { Episode } from '../api/wire.ts';
import { hrefTo } from '../router.ts';
import { measured, whole } from '../ui/numbers.ts';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';
import { EPISODES_PATH, episodeHref } from './addresses.ts';
import { EpisodeStatus } from './episode-status.tsx';

interface EpisodeTableProps {
  readonly episodes: readonly Episode[];
  /** Of models, by id. */
  readonly names: ReadonlyMap<string, string>;
  /** What the page shows; a group's link narrows it. */
  readonly choices: Readonly<Record<string, string>>;
}

export const EpisodeTable = ({ episodes, names, choices }: EpisodeTableProps) => (
  <Table label="Episodes" rows={episodes} keyOf={({ id }) => id} columns={columnsOf(names, choices)} />
);

const columnsOf = (
  names: EpisodeTableProps['names'],
  choices: EpisodeTableProps['choices'],
): readonly Column<Episode>[] => [
  {
    title: 'Episode',
    isWide: true,
    cell: ({ id, name }) => (
      <a href={episodeHref(id)}>
        <Text>{name}</Text>
      </a>
    ),
  },
  {
    title: 'Model',
    cell: ({ model_id: id }) => (
      <a href={hrefTo('/models/{id}', { id })}>
        <Text>{names.get(id) ?? id}</Text>
      </a>
    ),
  },
  {
    title: 'Group',
    cell: ({ group, model_id: model }) =>
      group === null ? (
        <span class="muted">–</span>
      ) : (
        <a href={hrefTo(EPISODES_PATH, { ...choices, model, group })}>
          <Text>{group}</Text>
        </a>
      ),
  },
  { title: 'State', cell: (episode) => <EpisodeStatus of={episode} /> },
  { title: 'Reward', align: 'right', cell: ({ reward }) => measured(reward) },
  { title: 'Calls', align: 'right', cell: ({ call_count: count }) => whole(count) },
  { title: 'Trained tokens', align: 'right', cell: ({ trained_token_count: count }) => whole(count) },
  { title: 'Began', align: 'right', cell: ({ created_at }) => <Ago at={created_at} /> },
  {
    title: 'Job',
    cell: ({ trained_by: id }) =>
      id === null ? <span class="muted">–</span> : <a href={hrefTo('/jobs/{id}', { id })}>{id.slice(0, 8)}</a>,
  },
];
