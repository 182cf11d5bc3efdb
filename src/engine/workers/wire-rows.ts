// The rows of a call as they travel to a worker (docs/worker-protocol.md, section 5): one as `row`, which every worker knows; several
// as `rows`, answered by a list. Decides how many go into one call; knows no session.
import { WORKER_PROTOCOL } from '#domain/worker-protocol';
import type { TrainingRow } from '../training-engine.ts';

export type WireRows = { readonly row: TrainingRow } | { readonly rows: readonly TrainingRow[] };

/** Half of a message, so that names and numbers around the arrays always fit. */
const CALL_BYTES_MAX = WORKER_PROTOCOL.frameBytesMax / 2;

/** In the order of the rows. A row that exceeds the limit by itself gets a call of its own. */
export function splitIntoCalls(rows: readonly TrainingRow[], rowsAtOnce: number): TrainingRow[][] {
  const calls: TrainingRow[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const open = calls.at(-1);
    bytes += bytesOf(row);
    if (open && open.length < rowsAtOnce && bytes <= CALL_BYTES_MAX) open.push(row);
    else {
      calls.push([row]);
      bytes = bytesOf(row);
    }
  }
  return calls;
}

export const toWireRows = (rows: readonly TrainingRow[]): WireRows =>
  rows.length === 1 ? { row: rows[0]! } : { rows };

export const fromWireRows = (asked: WireRows): readonly TrainingRow[] => ('rows' in asked ? asked.rows : [asked.row]);

export const toWireResults = <T>(asked: WireRows, results: readonly T[]): T | readonly T[] =>
  'rows' in asked ? results : results[0]!;

/** What a worker answered for each row; null if it answered another number of rows. */
export function fromWireResults(rows: readonly TrainingRow[], answer: unknown): readonly unknown[] | null {
  if (rows.length === 1) return [answer];
  return Array.isArray(answer) && answer.length === rows.length ? answer : null;
}

const bytesOf = ({ inputs, ...arrays }: TrainingRow): number =>
  [...Object.values(arrays), ...Object.values(inputs)].reduce((sum, { byteLength }) => sum + byteLength, 0);
