// The rewards of each prompt of a step, the lowest first, next to its reward at another step.
import { useMemo } from 'preact/hooks';
import { useLoad } from '../api/use-load.ts';
import { KeyValues } from '../ui/facts.tsx';
import { nameSkip } from '../groups/skip-reasons.ts';
import { Change, compare, Meter, Verdict } from '../ui/comparison.tsx';
import { measured } from '../ui/numbers.ts';
import { Loaded } from '../ui/states.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text } from '../ui/text.tsx';
import { promptRows, readGroups, type PromptRow } from './prompts.ts';
import type { Source } from './sources.ts';
import type { Choose } from './step-choice.tsx';

interface PromptTableProps {
  readonly modelId: string;
  readonly sources: readonly Source[];
  readonly steps: readonly number[];
  readonly step: number;
  /** The step to compare with. */
  readonly versus: number | null;
  readonly before: readonly Source[];
  readonly choose: Choose;
}

const idsOf = (sources: readonly Source[]): string => sources.map(({ id }) => id).join(' ');

export function PromptTable({ modelId, sources, steps, step, versus, before, choose }: PromptTableProps) {
  const groups = useLoad((signal) => readGroups(sources, modelId, signal), [idsOf(sources)]);
  const earlier = useLoad((signal) => readGroups(before, modelId, signal), [idsOf(before)]);
  const rows = useMemo(
    () =>
      groups.state === 'ready'
        ? promptRows(groups.value, earlier.state === 'ready' ? earlier.value : []).sort((a, b) => a.mean - b.mean)
        : [],
    [groups, earlier],
  );
  const compared = versus === null ? null : compare(rows);
  return (
    <>
      <div class="found">
        <label>
          Compare with step{' '}
          <select
            value={versus ?? ''}
            onChange={({ currentTarget: { value } }) => choose({ versus: value === '' ? null : Number(value) })}
          >
            <option value="">none</option>
            {steps.map((step) => (
              <option key={step} value={step}>
                {step}
              </option>
            ))}
          </select>
        </label>
        {versus !== null && earlier.state === 'ready' && !compared && (
          <span class="muted">The two steps have no prompt in common.</span>
        )}
      </div>
      {compared && <Verdict {...compared} step={step} versus={versus!} />}
      <Loaded of={groups}>
        {() => (
          <Table
            label="Prompts"
            rows={rows}
            keyOf={({ key }) => key}
            columns={versus === null ? COLUMNS : [...COLUMNS, CHANGE]}
          />
        )}
      </Loaded>
    </>
  );
}

const COLUMNS: readonly Column<PromptRow>[] = [
  {
    title: 'Group',
    cell: ({ source, group }) => <a href={source.hrefOf(group.index)}>{group.index}</a>,
    sortBy: ({ group }) => group.index,
  },
  { title: 'Prompt', cell: ({ group }) => <PromptCell group={group} />, isWide: true },
  { title: 'Mean reward', align: 'right', cell: ({ mean }) => <Meter value={mean} />, sortBy: ({ mean }) => mean },
  { title: 'Best', align: 'right', cell: ({ best }) => measured(best), sortBy: ({ best }) => best },
  { title: 'Worst', align: 'right', cell: ({ worst }) => measured(worst), sortBy: ({ worst }) => worst },
  {
    title: 'n',
    align: 'right',
    cell: ({ group }) => group.num_trajectories,
    sortBy: ({ group }) => group.num_trajectories,
  },
  { title: 'Not trained', cell: ({ group }) => skippedOf(group.skipped) },
];

const CHANGE: Column<PromptRow> = {
  title: 'Change',
  align: 'right',
  cell: ({ mean, before }) => (before === null ? <span class="muted">new</span> : <Change by={mean - before} />),
  sortBy: ({ mean, before }) => (before === null ? 0 : mean - before),
};

const PromptCell = ({ group }: Pick<PromptRow, 'group'>) => (
  <div class="prompt-cell">
    <Text>{(group.prompt ?? '').replace(/\s+/g, ' ')}</Text>
    <KeyValues values={group.metadata} />
  </div>
);

const skippedOf = (skipped: PromptRow['group']['skipped']) =>
  Object.entries(skipped ?? {})
    .map(([reason, count]) => `${count} ${nameSkip(reason)}`)
    .join(', ');
