// A table described by its columns, and sorted by the value that a column names: the address says which. Scrolls sideways on small
// screens. Of many rows it draws the first ones, says how many there are, and sorts all of them. Use virtual-list.tsx for rows that open.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { changeQuery, useAddress } from '../router.ts';
import { whole } from './numbers.ts';

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
  /** What the table shows, for screen readers; unique on its page. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** `rows` are only a part of a list: they are in the list's order, because sorting them would not sort it. */
  readonly isPart?: boolean;
}

const SHOWN_FIRST = 50;
const SHOWN_MORE = 500;

interface Sorting {
  readonly column: number;
  readonly isDown: boolean;
}

export function Table<Row>({ label, columns, rows, keyOf, isPart = false }: TableProps<Row>) {
  const [count, setCount] = useState(SHOWN_FIRST);
  const name = `sort-${label.toLowerCase().replaceAll(/\W+/g, '-')}`;
  const said = useAddress().query.get(name);
  const sorting = isPart ? null : readSorting(said, columns);
  const sortBy = sorting && columns[sorting.column]?.sortBy;
  const inOrder = sortBy ? sorted(rows, sortBy, sorting.isDown) : rows;
  const shown = inOrder.slice(0, count);
  const turn = (column: number) => {
    const isDown = sorting?.column === column ? !sorting.isDown : true;
    changeQuery({ [name]: `${isDown ? '-' : ''}${columns[column]!.title}` });
  };

  const frame = (
    <div class="table-frame scrolls-sideways" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ title, align, sortBy: sorts, isWide }, at) => (
              <th key={title} scope="col" class={classOf(align, isWide)} aria-sort={stateOf(sorting, at)}>
                {sorts && !isPart ? (
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
  if (shown.length === rows.length) return frame;
  return (
    <>
      {frame}
      <p class="row pager">
        <span class="muted small">
          {whole(shown.length)} of {whole(rows.length)} are shown
        </span>
        <button type="button" onClick={() => setCount(count + SHOWN_MORE)}>
          Show {whole(Math.min(SHOWN_MORE, rows.length - shown.length))} more
        </button>
      </p>
    </>
  );
}

/** `lr`: the smallest first; `-lr`: the greatest. What names no column of the table sorts nothing. */
function readSorting(said: string | null, columns: readonly { readonly title: string }[]): Sorting | null {
  if (said === null) return null;
  const at = (title: string) => columns.findIndex((column) => column.title === title);
  if (at(said) !== -1) return { column: at(said), isDown: false };
  const column = said.startsWith('-') ? at(said.slice(1)) : -1;
  return column === -1 ? null : { column, isDown: true };
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
