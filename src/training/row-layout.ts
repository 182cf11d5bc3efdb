// How the sequences of a row lie in it: as a tree of their common beginnings (prefix-tree.ts), or each for itself
// (separate-sequences.ts), as the trainer takes them. What packs rows (packing.ts) knows no more of it than this.

/** `separate`: the trainer computes no shared beginnings. */
export type Sharing = 'shared' | 'separate';

export interface RowLayout {
  /** Tokens that the row would grow by; changes nothing. */
  cost(tokens: Int32Array): number;
  /** Gives back the sequence's number. */
  add(tokens: Int32Array): number;
  /** Tokens in the row. */
  readonly size: number;
  lay(): LaidRow;
}

export interface LaidRow {
  /** `[row]` each */
  readonly tokens: Int32Array;
  readonly positions: Int32Array;
  readonly segments: Int32Array;
  /** `[segments]`, −1 for none */
  readonly parents: Int32Array;
  /** `[sequence]` → `[token]` its place in the row. */
  readonly places: readonly Int32Array[];
}
