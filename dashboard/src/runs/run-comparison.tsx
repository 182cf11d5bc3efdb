// Chosen runs side by side: the values in which they differ, and their curves in common charts.
import { useState } from 'preact/hooks';
import { counted } from '../ui/numbers.ts';
import { Section } from '../ui/page-head.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Text, visibleText } from '../ui/text.tsx';
import { RunCharts } from './run-charts.tsx';
import type { RunRow } from './run-table.tsx';
import { labelsOf } from './run-tracks.ts';
import { columnsOf, inWords, valueOf, type ValueColumn } from './run-values.ts';

interface RunComparisonProps {
  readonly rows: readonly RunRow[];
}

export function RunComparison({ rows }: RunComparisonProps) {
  const [showsAll, setShowsAll] = useState(false);
  const runs = rows.map(({ run }) => run);
  const labels = labelsOf(runs);
  const values = columnsOf(rows);
  const differing = values.filter(({ differs }) => differs);
  const columns: readonly Column<ValueColumn>[] = [
    { title: 'Name', cell: ({ name }) => <Text>{name}</Text>, sortBy: ({ name }) => name },
    { title: 'In', cell: ({ of }) => of, sortBy: ({ of }) => of },
    ...rows.map((row, at): Column<ValueColumn> => ({
      title: visibleText(labels[at]!),
      cell: (value) => <Text>{inWords(valueOf(row, value), value.of)}</Text>,
    })),
  ];
  return (
    <>
      <Section
        title={`Comparison of ${counted(rows.length, 'run')}`}
        aside={
          <label class="check">
            <input type="checkbox" checked={showsAll} onChange={() => setShowsAll(!showsAll)} /> Also what they share
          </label>
        }
      >
        {differing.length === 0 && !showsAll ? (
          <p class="muted">These runs have the same configuration and summary.</p>
        ) : (
          <Table label="Comparison" rows={showsAll ? values : differing} keyOf={({ id }) => id} columns={columns} />
        )}
      </Section>
      <RunCharts runs={runs} version={runs.map(({ updated_at: at }) => at).join(' ')} />
    </>
  );
}
