// Sequences → rows for the trainer. Beginnings that sequences of a row share are computed once (prefix-tree.ts); beyond them
// neighbours do not see each other. The order is drawn from a seed, so that a replayed job trains on the same rows.
import { shuffle, type Random } from '#base/random';
import type { TrainingRow } from '#engine/training-engine';
import { createPrefixTree, type PrefixTree } from './prefix-tree.ts';
import type { TokenSequence } from './tokenize.ts';

export interface Datum extends TokenSequence {
  readonly advantage: number;
  /** Of each trained token. */
  readonly weight: number;
}

export interface PackedRow {
  /** Laid out each time it is asked for: a job's rows together would be several times its sequences. */
  readonly row: TrainingRow;
  readonly sequenceCount: number;
  /** That sharing beginnings saved in this row. */
  readonly tokensSaved: number;
}

/** Keeps the first `lengthMax` tokens; null when no trained token is among them. */
export function truncate(sequence: TokenSequence, lengthMax: number): TokenSequence | null {
  if (sequence.tokens.length <= lengthMax) return sequence;
  const [tokens, trained, logprobs] = [sequence.tokens, sequence.trained, sequence.logprobs].map((list) =>
    list.subarray(0, lengthMax),
  ) as [Int32Array, Uint8Array, Float32Array];
  return trained.includes(1) ? { tokens, trained, logprobs } : null;
}

/**
 * `groups` is `[group][rollout][sequence]`. Rollouts are shuffled inside their group and fill rows in order; a new row
 * starts when what the next sequence adds does not fit; then rows are shuffled. A row is as long as what it holds: there is
 * no padding. The longest goes first: if one does not fit into memory, the job fails before it has trained.
 */
export function packRows(
  groups: readonly (readonly (readonly Datum[])[])[],
  rowLength: number,
  random: Random,
): PackedRow[] {
  const order = shuffle(
    fillRows(
      groups.flatMap((rollouts) => shuffle([...rollouts], random).flat()),
      rowLength,
    ),
    random,
  );
  const longest = order.reduce((best, row, i) => (row.tree.size > order[best]!.tree.size ? i : best), 0);
  return [...order.slice(longest, longest + 1), ...order.slice(0, longest), ...order.slice(longest + 1)].map(
    toPackedRow,
  );
}

/** In the order that they come in. */
export const packInOrder = (data: readonly Datum[], rowLength: number): PackedRow[] =>
  fillRows(data, rowLength).map(toPackedRow);

function fillRows(data: readonly Datum[], rowLength: number): RowMembers[] {
  const rows: RowMembers[] = [];
  for (const datum of data) {
    const last = rows.at(-1);
    const fits = last !== undefined && last.tree.size + last.tree.cost(datum.tokens) <= rowLength;
    const row = fits ? last : { tree: createPrefixTree(), members: [] };
    if (!fits) rows.push(row);
    row.tree.add(datum.tokens);
    row.members.push(datum);
  }
  return rows;
}

interface RowMembers {
  readonly tree: PrefixTree;
  readonly members: Datum[];
}

const toPackedRow = ({ tree, members }: RowMembers): PackedRow => ({
  get row() {
    return layRow(tree, members);
  },
  sequenceCount: members.length,
  tokensSaved: members.reduce((sum, { tokens }) => sum + tokens.length, 0) - tree.size,
});

function layRow(tree: PrefixTree, members: readonly Datum[]): TrainingRow {
  const { tokens, positions, segments, parents, places } = tree.lay();
  const predictFrom: number[] = [];
  const targets: number[] = [];
  const sequenceIds: number[] = [];
  const inputs = { oldLogprobs: [] as number[], advantages: [] as number[], weights: [] as number[] };
  members.forEach((datum, sequence) => {
    for (let i = 1; i < datum.tokens.length; i++) {
      if (datum.trained[i] === 0) continue;
      predictFrom.push(places[sequence]![i - 1]!);
      targets.push(datum.tokens[i]!);
      sequenceIds.push(sequence);
      inputs.oldLogprobs.push(datum.logprobs[i]!);
      inputs.advantages.push(datum.advantage);
      inputs.weights.push(datum.weight);
    }
  });
  return {
    tokens,
    positions,
    segments,
    parents,
    predictFrom: Int32Array.from(predictFrom),
    targets: Int32Array.from(targets),
    sequenceIds: Int32Array.from(sequenceIds),
    inputs: Object.fromEntries(Object.entries(inputs).map(([name, values]) => [name, Float32Array.from(values)])),
  };
}

/** Trained tokens of a sequence. The first token has no context to be predicted from. */
export const trainedCount = ({ trained }: TokenSequence): number =>
  trained.subarray(1).reduce((sum, one) => sum + one, 0);
