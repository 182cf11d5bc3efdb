// All trajectories of a step, possibly thousands: searched by text, filtered and sorted by their numbers, opened in place. The keys j and k
// go through them. What is shown is in the address.
import { useMemo, useState } from 'preact/hooks';
import { counted, whole } from '../ui/numbers.ts';
import { Empty, Failure } from '../ui/states.tsx';
import { useKeys } from '../ui/use-keys.ts';
import { VirtualList } from '../ui/virtual-list.tsx';
import { filterRows, isFiltered, namesIn, NO_FILTER, readRowChoice, sortingInAddress } from './filter.ts';
import { RowFilters } from './row-filters.tsx';
import { sortRows, type SortKey } from './rows.ts';
import { SearchBox } from './search-box.tsx';
import type { Source } from './sources.ts';
import type { Choose } from './step-choice.tsx';
import { TrajectoryLine } from './trajectory-line.tsx';
import { useRows } from './use-rows.ts';

interface TrajectoryTableProps {
  readonly modelId: string;
  readonly sources: readonly Source[];
  readonly query: URLSearchParams;
  readonly choose: Choose;
  /** Opens the row of this key, and closes the one that is open; null: only closes it. */
  readonly open: (row: string | null) => void;
}

const COLUMNS: readonly { readonly by: SortKey; readonly title: string }[] = [
  { by: 'order', title: 'Group' },
  { by: 'reward', title: 'Reward' },
  { by: 'advantage', title: 'Advantage' },
  { by: 'num_sampled_turns', title: 'Turns' },
  { by: 'num_sampled_tokens', title: 'Tokens' },
];

export function TrajectoryTable({ modelId, sources, query, choose, open }: TrajectoryTableProps) {
  const search = query.get('search') ?? '';
  const address = query.toString();
  const choice = useMemo(() => readRowChoice(query), [address]);
  const { sorting, row: current } = choice;
  const { rows, isWhole, error } = useRows(modelId, sources, search);
  const [others, setOthers] = useState<ReadonlySet<string>>(new Set());
  const names = useMemo(() => namesIn(rows), [rows]);
  const shown = useMemo(() => sortRows(filterRows(rows, choice), sorting), [rows, choice]);

  const turn = (by: SortKey) => {
    const isDown = sorting.by === by ? !sorting.isDown : by !== 'order';
    choose({ sort: sortingInAddress({ by, isDown }) });
  };
  const isOpen = (key: string) => key === current || others.has(key);
  const toggle = (key: string) => {
    const left = [...others].filter((each) => each !== key);
    setOthers(new Set(isOpen(key) || current === '' ? left : [...left, current]));
    if (key === current) open(null);
    else if (!isOpen(key)) open(key);
  };
  const go = (by: 1 | -1) => () => {
    const at = shown.findIndex(({ key }) => key === current);
    const next = shown[at === -1 ? (by === 1 ? 0 : shown.length - 1) : at + by];
    if (next) open(next.key);
  };
  useKeys({ j: go(1), k: go(-1), Escape: current === '' ? undefined : () => open(null) });

  const isPart = shown.length < rows.length;
  const searchBox = <SearchBox key={search} value={search} search={(text) => choose({ search: text })} />;
  if (error !== null && rows.length === 0)
    return (
      <>
        <div class="found">{searchBox}</div>
        <Failure error={error} />
      </>
    );
  return (
    <>
      <div class="found">
        {searchBox}
        <span class="muted" role="status">
          {isPart && `${whole(shown.length)} of `}
          {counted(rows.length, 'trajectory')}
          {isWhole ? '' : ' so far'}
        </span>
        <span class="muted small">
          Keys: <kbd>j</kbd> next, <kbd>k</kbd> previous, <kbd>Esc</kbd> close
        </span>
        {isFiltered(choice) && (
          <button type="button" class="link" onClick={() => choose(NO_FILTER)}>
            Drop the filters
          </button>
        )}
      </div>
      <RowFilters filter={choice} names={names} choose={choose} />
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
      {shown.length === 0 && isWhole && error === null ? (
        <Empty title={isPart ? 'No trajectory matches' : search === '' ? 'No trajectories' : 'Nothing found'} />
      ) : (
        <VirtualList
          label="Trajectories"
          rows={shown}
          rowHeight={37}
          heightMax="min(70vh, 900px)"
          keyOf={({ key }) => key}
          follow={current}
        >
          {(row) => (
            <TrajectoryLine row={row} isOpen={isOpen(row.key)} toggle={() => toggle(row.key)} modelId={modelId} />
          )}
        </VirtualList>
      )}
    </>
  );
}
