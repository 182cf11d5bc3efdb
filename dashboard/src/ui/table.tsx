// A table described by its columns, and sorted by the value that a column names. Scrolls sideways on small screens. Use
// virtual-list.tsx for thousands of rows.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Aligns numbers on the right. */
  readonly align?: 'right';
  readonly sortBy?: (row: Row) => number | string;
  /** Takes the remaining width. */
  readonly isWide?: boolean;
}

interface TableProps<Row> {
  /** What the table shows, for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

interface Sorting {
  readonly column: number;
  readonly isDown: boolean;
}

export function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>) {
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const sortBy = sorting && columns[sorting.column]?.sortBy;
  const shown = sortBy ? sorted(rows, sortBy, sorting.isDown) : rows;
  const turn = (column: number) => setSorting({ column, isDown: sorting?.column === column ? !sorting.isDown : true });

  return (
    <div class="table-frame scrolls-sideways" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, align, sortBy: sorts, isWide }, at) => (
              <th key={title} scope="col" class={classOf(align, isWide)} aria-sort={stateOf(sorting, at)}>
                {sorts ? (
                  <button class="sort" type="button" onClick={() => turn(at)}>
                    {title}
                  </button>
                ) : (
                  title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, align, isWide }) => (
                <td key={title} class={classOf(align, isWide)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const classOf = (align?: 'right', isWide?: boolean): string =>
  `${align ? 'number' : ''} ${isWide ? 'wide' : ''}`.trim();

function stateOf(sorting: Sorting | null, column: number): 'ascending' | 'descending' | undefined {
  if (sorting?.column !== column) return undefined;
  return sorting.isDown ? 'descending' : 'ascending';
}

function sorted<Row>(rows: readonly Row[], by: (row: Row) => number | string, isDown: boolean): readonly Row[] {
  const compare = (a: number | string, b: number | string) =>
    typeof a === 'number' && typeof b === 'number'
      ? a - b
      : String(a).localeCompare(String(b), 'en', { numeric: true });
  return rows.toSorted((a, b) => (isDown ? -1 : 1) * compare(by(a), by(b)));
}
