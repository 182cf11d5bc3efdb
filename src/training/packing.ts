// Sequences → rows for the trainer. Beginnings that sequences of a row share are computed once, where the trainer can do that
// (prefix-tree.ts); beyond them neighbours do not see each other. The order is drawn from a seed, so that a replayed job trains on
// the same rows.
import { shuffle, type Random } from '#base/random';
import type { TrainingRow } from '#engine/training-engine';
import { createPrefixTree } from './prefix-tree.ts';
import type { RowLayout, Sharing } from './row-layout.ts';
import { createSeparateSequences } from './separate-sequences.ts';
import type { TokenSequence } from './tokenize.ts';

export interface Datum extends TokenSequence {
  readonly advantage: number;
  /** Of each trained token. */
  readonly weight: number;
  /** Of RL jobs. */
  readonly origin?: Origin;
}

/** What of a job's groups a sequence was made of, all by their places. */
export interface Origin {
  readonly group: number;
  readonly trajectory: number;
  readonly sequence: number;
}

export interface PackedRow {
  readonly members: readonly Datum[];
  /** Laid out each time it is asked for: a job's rows together would be several times its sequences. */
  readonly row: TrainingRow;
  readonly sequenceCount: number;
  /** That sharing beginnings saved in this row. */
  readonly tokensSaved: number;
}

const LAYOUTS = {
  shared: createPrefixTree,
  separate: createSeparateSequences,
} satisfies Readonly<Record<Sharing, () => RowLayout>>;

/**
 * `groups` is `[group][rollout][sequence]`. Rollouts are shuffled inside their group and fill rows in order; a new row
 * starts when what the next sequence adds does not fit; then rows are shuffled. A row is as long as what it holds: there is
 * no padding. The longest goes first: if one does not fit into memory, the job fails before it has trained.
 */
export function packRows(
  groups: readonly (readonly (readonly Datum[])[])[],
  rowLength: number,
  random: Random,
  sharing: Sharing = 'shared',
): PackedRow[] {
  const order = shuffle(
    fillRows(
      groups.flatMap((rollouts) => shuffle([...rollouts], random).flat()),
      rowLength,
      sharing,
    ),
    random,
  );
  const longest = order.reduce((best, row, i) => (row.layout.size > order[best]!.layout.size ? i : best), 0);
  return [...order.slice(longest, longest + 1), ...order.slice(0, longest), ...order.slice(longest + 1)].map(
    ({ members }) => createPackedRow(members, sharing),
  );
}

/** In the order that they come in; a row as soon as it is full. */
export async function* packInOrder(
  data: AsyncIterable<Datum>,
  rowLength: number,
  sharing: Sharing = 'shared',
): AsyncGenerator<PackedRow> {
  const filling = createFilling(rowLength, sharing);
  for await (const datum of data) {
    const full = filling.add(datum);
    if (full) yield createPackedRow(full.members, sharing);
  }
  const last = filling.last();
  if (last) yield createPackedRow(last.members, sharing);
}

function fillRows(data: readonly Datum[], rowLength: number, sharing: Sharing): RowMembers[] {
  const filling = createFilling(rowLength, sharing);
  const full = data.map((datum) => filling.add(datum));
  return [...full, filling.last()].filter((row) => row !== null);
}

interface RowMembers {
  readonly layout: RowLayout;
  readonly members: Datum[];
  /** Of the members, each for itself. */
  cost: number;
}

/** Equal sequences share all their tokens, and would never fill a row. In tokens: about 10 MB. */
const MEMBERS_COST_MAX = 1_000_000;
/** What a sequence takes beside its tokens. */
const MEMBER_COST = 100;

function createFilling(rowLength: number, sharing: Sharing) {
  let open: RowMembers | null = null;
  const costOf = ({ tokens }: Datum) => tokens.length + MEMBER_COST;
  const fits = ({ layout, cost }: RowMembers, datum: Datum) =>
    layout.size + layout.cost(datum.tokens) <= rowLength && cost + costOf(datum) <= MEMBERS_COST_MAX;
  return {
    /** Gives the row that was open, where the sequence does not fit into it. */
    add(datum: Datum): RowMembers | null {
      const full = open && !fits(open, datum) ? open : null;
      if (full || !open) open = { layout: LAYOUTS[sharing](), members: [], cost: 0 };
      open.layout.add(datum.tokens);
      open.members.push(datum);
      open.cost += costOf(datum);
      return full;
    },
    last: () => open,
  };
}

/** What a row is follows from its members, wherever they were chosen. */
export const createPackedRow = (members: readonly Datum[], sharing: Sharing = 'shared'): PackedRow => ({
  members,
  get row() {
    return layRow(layoutOf(members, sharing), members);
  },
  sequenceCount: members.length,
  get tokensSaved() {
    return members.reduce((sum, { tokens }) => sum + tokens.length, 0) - layoutOf(members, sharing).size;
  },
});

function layoutOf(members: readonly Datum[], sharing: Sharing): RowLayout {
  const layout = LAYOUTS[sharing]();
  for (const { tokens } of members) layout.add(tokens);
  return layout;
}

function layRow(layout: RowLayout, members: readonly Datum[]): TrainingRow {
  const { tokens, positions, segments, parents, places } = layout.lay();
  const count = members.reduce((sum, datum) => sum + trainedCount(datum), 0);
  const [predictFrom, targets, sequenceIds] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)];
  const [oldLogprobs, advantages, weights] = [
    new Float32Array(count),
    new Float32Array(count),
    new Float32Array(count),
  ];
  let next = 0;
  members.forEach((datum, sequence) => {
    for (let i = 1; i < datum.tokens.length; i++) {
      if (datum.trained[i] === 0) continue;
      predictFrom[next] = places[sequence]![i - 1]!;
      targets[next] = datum.tokens[i]!;
      sequenceIds[next] = sequence;
      oldLogprobs[next] = datum.logprobs[i]!;
      advantages[next] = datum.advantage;
      weights[next] = datum.weight;
      next++;
    }
  });
  const inputs = { oldLogprobs, advantages, weights };
  return { tokens, positions, segments, parents, predictFrom, targets, sequenceIds, inputs };
}

/** Trained tokens of a sequence. The first token has no context to be predicted from. */
export const trainedCount = ({ trained }: TokenSequence): number =>
  trained.subarray(1).reduce((sum, one) => sum + one, 0);
