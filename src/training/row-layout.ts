// How the sequences of a row are laid out: as a tree of their common prefixes (prefix-tree.ts), or one after another
// (separate-sequences.ts), depending on the trainer. packing.ts knows nothing else about it.

/** `separate`: the trainer does not support shared prefixes. */
export type Sharing = 'shared' | 'separate';

export interface RowLayout {
  /** Tokens that the row would grow by; changes nothing. */
  cost(tokens: Int32Array): number;
  /** Returns the sequence's index. */
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
  /** `[sequence]` → `[token]` its index in the row. */
  readonly places: readonly Int32Array[];
}
