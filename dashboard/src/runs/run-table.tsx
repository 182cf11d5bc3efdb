// Runs of a project as rows: state, times, and the columns that were chosen among the names in their configurations and summaries. A box
// in each row chooses the run for the comparison.
import { whole } from '../ui/numbers.ts';
import { Table, type Column } from '../ui/table.tsx';
import { Text, visibleText } from '../ui/text.tsx';
import { Ago } from '../ui/time.tsx';
import { RanFor, RunLink, RunState, type Run } from './run-cells.tsx';
import { inWords, ranSeconds, sortValue, valueOf, type ValueColumn, type Valued } from './run-values.ts';

export interface RunRow extends Valued {
  readonly run: Run;
}

interface RunTableProps {
  readonly rows: readonly RunRow[];
  readonly columns: readonly ValueColumn[];
  /** Runs by the client's id. */
  readonly chosen: readonly string[];
  /** No more can be chosen. */
  readonly isFull: boolean;
  readonly onChoose: (run: string, isOn: boolean) => void;
  /** The list has more rows than these. */
  readonly isPart: boolean;
}

export function RunTable({ rows, columns, chosen, isFull, onChoose, isPart }: RunTableProps) {
  const box: Column<RunRow> = {
    title: 'Compare',
    cell: ({ run }) => (
      <label class="check">
        <input
          type="checkbox"
          aria-label={`Compare ${visibleText(run.name)}`}
          checked={chosen.includes(run.run)}
          disabled={isFull && !chosen.includes(run.run)}
          onChange={({ currentTarget }) => onChoose(run.run, currentTarget.checked)}
        />
      </label>
    ),
  };
  return (
    <Table
      label="Runs"
      rows={rows}
      keyOf={({ run }) => run.id}
      columns={[box, ...FIXED, ...columns.map((column) => columnFor(column, columns))]}
      isPart={isPart}
    />
  );
}

const FIXED: readonly Column<RunRow>[] = [
  { title: 'Run', cell: ({ run }) => <RunLink run={run} />, sortBy: ({ run }) => run.name, isWide: true },
  { title: 'State', cell: ({ run }) => <RunState run={run} />, sortBy: ({ run }) => run.state },
  {
    title: 'Created',
    align: 'right',
    cell: ({ run }) => <Ago at={run.created_at} />,
    sortBy: ({ run }) => run.created_at,
  },
  {
    title: 'Duration',
    align: 'right',
    cell: ({ run }) => <RanFor run={run} />,
    sortBy: ({ run }) => ranSeconds(run),
  },
  {
    title: 'Lines',
    align: 'right',
    cell: ({ run }) => whole(run.history_lines),
    sortBy: ({ run }) => run.history_lines,
  },
];

const VALUE_CHARACTERS = 60;

function columnFor(column: ValueColumn, all: readonly ValueColumn[]): Column<RunRow> {
  const { of, name, isNumeric } = column;
  const isTwice =
    FIXED.some(({ title }) => title === name) || all.some((other) => other !== column && other.name === name);
  return {
    title: visibleText(isTwice ? `${name} (${of})` : name),
    ...(isNumeric ? { align: 'right' as const } : {}),
    cell: (row) => {
      const value = valueOf(row, column);
      const text = inWords(value, of);
      if (value === undefined) return <span class="muted">{text}</span>;
      const isLong = text.length > VALUE_CHARACTERS;
      return (
        <span title={visibleText(String(value))}>
          <Text>{isLong ? `${text.slice(0, VALUE_CHARACTERS)}…` : text}</Text>
        </span>
      );
    },
    sortBy: (row) => sortValue(valueOf(row, column), isNumeric),
  };
}
