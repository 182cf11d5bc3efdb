// All trajectories of a step, possibly thousands: searched by text, sorted by their numbers, opened in place.
import { useMemo, useState } from 'preact/hooks';
import { whole } from '../ui/numbers.ts';
import { Empty, Failure } from '../ui/states.tsx';
import { VirtualList } from '../ui/virtual-list.tsx';
import { sortRows, type SortKey, type Sorting } from './rows.ts';
import { SearchBox } from './search-box.tsx';
import type { Source } from './sources.ts';
import type { Choose } from './step-choice.tsx';
import { TrajectoryLine } from './trajectory-line.tsx';
import { useRows } from './use-rows.ts';

interface TrajectoryTableProps {
  readonly modelId: string;
  readonly sources: readonly Source[];
  readonly search: string;
  readonly choose: Choose;
}

const COLUMNS: readonly { readonly by: SortKey; readonly title: string }[] = [
  { by: 'order', title: 'Group' },
  { by: 'reward', title: 'Reward' },
  { by: 'advantage', title: 'Advantage' },
  { by: 'num_sampled_turns', title: 'Turns' },
  { by: 'num_sampled_tokens', title: 'Tokens' },
];

export function TrajectoryTable({ modelId, sources, search, choose }: TrajectoryTableProps) {
  const { rows, isWhole, error } = useRows(modelId, sources, search);
  const [sorting, setSorting] = useState<Sorting>({ by: 'order', isDown: false });
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const sorted = useMemo(() => sortRows(rows, sorting), [rows, sorting]);
  const turn = (by: SortKey) => setSorting({ by, isDown: sorting.by === by ? !sorting.isDown : by !== 'order' });
  const toggle = (key: string) =>
    setOpen((before) => new Set(before.has(key) ? [...before].filter((each) => each !== key) : [...before, key]));
  return (
    <>
      <div class="found">
        <SearchBox value={search} search={(text) => choose({ search: text })} />
        <span class="muted" role="status">
          {whole(rows.length)} {rows.length === 1 ? 'trajectory' : 'trajectories'}
          {isWhole ? '' : ' so far'}
        </span>
      </div>
      {error !== null && <Failure error={error} />}
      <div class="line-head" role="group" aria-label="Sort by">
        {COLUMNS.map(({ by, title }) => (
          <button
            key={by}
            type="button"
            class="sort"
            aria-pressed={sorting.by === by}
            data-direction={sorting.by === by ? (sorting.isDown ? 'down' : 'up') : undefined}
            onClick={() => turn(by)}
          >
            {title}
          </button>
        ))}
        <span>Prompt and last answer</span>
      </div>
      {rows.length === 0 && isWhole && error === null ? (
        <Empty title={search === '' ? 'No trajectories' : 'Nothing found'} />
      ) : (
        <VirtualList
          label="Trajectories"
          rows={sorted}
          rowHeight={37}
          height="min(70vh, 900px)"
          keyOf={({ key }) => key}
        >
          {(row) => (
            <TrajectoryLine row={row} isOpen={open.has(row.key)} toggle={() => toggle(row.key)} modelId={modelId} />
          )}
        </VirtualList>
      )}
    </>
  );
}
