// Rows of cells as text in columns. On a terminal that is too narrow for the rows, columns without content are left out, and then those
// that have no room go on under the row: no cell is cut or broken by this file, so that an id can be copied whole.
import { widthOf } from './text-width.ts';

const GAP = '  ';

export type Rows = readonly (readonly string[])[];

/** Aligns the cells of rows in columns. */
export const inColumns = (rows: Rows): string[] => linesOf(rows, widthsOf(rows), '');

/** The first row is the header. `width`: of the terminal, in characters. */
export function inColumnsWithin(width: number, rows: Rows): string[] {
  const whole = inColumns(rows);
  if (isWithin(width, whole)) return whole;
  const filled = withContent(rows);
  const lines = inColumns(filled);
  if (isWithin(width, lines)) return lines;
  const parts = foldsOf(widthsOf(filled), width).map(({ from, to }, i) => {
    const cells = filled.map((row) => row.slice(from, to));
    return linesOf(cells, widthsOf(cells), i === 0 ? '' : GAP);
  });
  return filled.flatMap((_, row) => parts.map((part) => part[row]!)).filter((line) => line.trim() !== '');
}

const isWithin = (width: number, lines: readonly string[]): boolean => lines.every((line) => widthOf(line) <= width);

function widthsOf(rows: Rows): number[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, widthOf(cell))));
  return widths;
}

const linesOf = (rows: Rows, widths: readonly number[], indent: string): string[] =>
  rows.map((row) => (indent + row.map((cell, i) => cell + ' '.repeat(widths[i]! - widthOf(cell))).join(GAP)).trimEnd());

const isEmpty = (cell: string | undefined): boolean => cell === undefined || cell === '' || cell === '-';

/** Without the columns that have a header only. */
function withContent(rows: Rows): Rows {
  const [header = [], ...others] = rows;
  const kept = header.map((_, i) => others.some((row) => !isEmpty(row[i])));
  return rows.map((row) => row.filter((_, i) => kept[i]));
}

/** Which columns stand in one line: as many as fit, at least one. Lines after the first are indented. */
function foldsOf(widths: readonly number[], width: number): { readonly from: number; readonly to: number }[] {
  const folds: { from: number; to: number }[] = [];
  let used = Infinity;
  for (const [i, columnWidth] of widths.entries()) {
    used += GAP.length + columnWidth;
    if (used <= width) folds.at(-1)!.to = i + 1;
    else {
      used = columnWidth + (folds.length === 0 ? 0 : GAP.length);
      folds.push({ from: i, to: i + 1 });
    }
  }
  return folds;
}
