// How consecutive sequences fill rows: a row takes sequences as long as they fit, then the next one begins. Jobs (packing.ts) and data of
// Tinker clients (services/tinker/datum-rows.ts) share this rule, so that the same sequences give the same rows, and the same bits,
// whichever way they came.
import { createPrefixTree } from './prefix-tree.ts';
import type { RowLayout, Sharing } from './row-layout.ts';
import { createSeparateSequences } from './separate-sequences.ts';

const LAYOUTS = {
  shared: createPrefixTree,
  separate: createSeparateSequences,
} satisfies Readonly<Record<Sharing, () => RowLayout>>;

export const createLayout = (sharing: Sharing): RowLayout => LAYOUTS[sharing]();

export interface FillingRule<T> {
  /** In tokens. A longer sequence gets a longer row of its own. */
  readonly rowLength: number;
  readonly sharing: Sharing;
  /** The part of a sequence that lies in the row. */
  readonly tokensOf: (sequence: T) => Int32Array;
  /** Additional cost of a sequence: without one, sequences that share all their tokens would never fill a row. */
  readonly costOf: (sequence: T) => number;
  readonly costMax: number;
}

export interface FilledRow<T> {
  readonly members: readonly T[];
  /** In tokens. */
  readonly size: number;
}

export interface RowFilling<T> {
  /** Returns the open row if the sequence does not fit into it. */
  add(sequence: T): FilledRow<T> | null;
  /** The open row; null: it is empty. */
  last(): FilledRow<T> | null;
}

export function createRowFilling<T>({ rowLength, sharing, tokensOf, costOf, costMax }: FillingRule<T>): RowFilling<T> {
  let open: { readonly layout: RowLayout; readonly members: T[]; cost: number } | null = null;
  return {
    add(sequence) {
      const [tokens, cost] = [tokensOf(sequence), costOf(sequence)];
      const fits = open && open.layout.size + open.layout.cost(tokens) <= rowLength && open.cost + cost <= costMax;
      const full = fits ? null : this.last();
      if (!open || !fits) open = { layout: createLayout(sharing), members: [], cost: 0 };
      open.layout.add(tokens);
      open.members.push(sequence);
      open.cost += cost;
      return full;
    },
    last: () => open && { members: open.members, size: open.layout.size },
  };
}

/** All rows of a list of sequences, in order. */
export function fillRows<T>(sequences: readonly T[], rule: FillingRule<T>): FilledRow<T>[] {
  const filling = createRowFilling(rule);
  const full = sequences.map((sequence) => filling.add(sequence));
  return [...full, filling.last()].filter((row) => row !== null);
}
