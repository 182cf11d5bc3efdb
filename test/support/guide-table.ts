// A table of a guide that a test keeps equal to what was measured.

/** Aligned as Prettier does: the first columns, which are words, to the left, figures to the right. */
export function asTable(wordColumns: number, rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
  const pad = (cell: string, i: number) => (i < wordColumns ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!));
  const line = (row: readonly string[]) => `| ${row.map(pad).join(' | ')} |\n`;
  const rule = widths.map((width, i) => (i < wordColumns ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(rows[0]!), line(rule), ...rows.slice(1).map(line)].join('');
}
