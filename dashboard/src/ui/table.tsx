// A table described by its columns, and sorted by the value that a column names, or by the server: the address says by which. Scrolls
// sideways on small screens. Of many rows it draws the first ones, says how many there are, and sorts all of them. Use virtual-list.tsx for
// rows that open.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { changeQuery, chooseAmong, useAddress } from '../router.ts';
import { whole } from './numbers.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Aligns numbers on the right. */
  readonly align?: 'right';
  readonly sortBy?: (row: Row) => number | string;
  /** What the server calls the order by this column: it sorts the list of which `rows` are a page. */
  readonly sortedAs?: string;
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
  const name = sortNameOf(label);
  const said = readSorting(useAddress().query.get(name), columns);
  const sorts = ({ sortBy, sortedAs }: Column<Row>) => sortedAs !== undefined || (sortBy !== undefined && !isPart);
  const sorting = said && sorts(columns[said.column]!) ? said : null;
  const sortBy = sorting && columns[sorting.column]?.sortBy;
  const inOrder = sortBy ? sorted(rows, sortBy, sorting.isDown) : rows;
  const shown = inOrder.slice(0, count);
  const turn = (column: number) => {
    const isDown = sorting?.column === column ? !sorting.isDown : true;
    const { title, sortedAs } = columns[column]!;
    const change = sortedAs === undefined ? changeQuery : chooseAmong;
    change({ [name]: `${isDown ? '-' : ''}${title}` });
  };

  const frame = (
    <div class="table-frame scrolls-sideways" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column, at) => (
              <th key={column.title} scope="col" class={classOf(column)} aria-sort={stateOf(sorting, at)}>
                {sorts(column) ? (
                  <button class="sort" type="button" onClick={() => turn(at)}>
                    {column.title}
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.cell(row)}
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

/** What the address of the page says about the order of its table of this name. */
export const sortNameOf = (label: string): string => `sort-${label.toLowerCase().replaceAll(/\W+/g, '-')}`;

/** The order in which the server is asked for the rows; null: the list's own. */
export function askedOrder<Row>(
  said: string | null,
  columns: readonly Column<Row>[],
): { readonly sort: string; readonly order: 'asc' | 'desc' } | null {
  const sorting = readSorting(said, columns);
  const sort = sorting && columns[sorting.column]!.sortedAs;
  return sort ? { sort, order: sorting.isDown ? 'desc' : 'asc' } : null;
}

/** `lr`: the smallest first; `-lr`: the greatest. What names no column of the table sorts nothing. */
function readSorting(said: string | null, columns: readonly { readonly title: string }[]): Sorting | null {
  if (said === null) return null;
  const at = (title: string) => columns.findIndex((column) => column.title === title);
  if (at(said) !== -1) return { column: at(said), isDown: false };
  const column = said.startsWith('-') ? at(said.slice(1)) : -1;
  return column === -1 ? null : { column, isDown: true };
}

const classOf = <Row,>({ align, isWide }: Column<Row>): string =>
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
