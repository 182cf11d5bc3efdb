// Packs sequences into rows for the trainer. Prefixes that sequences of a row share are computed once if the trainer supports that
// (prefix-tree.ts); otherwise sequences of a row do not see each other. The order is seeded, so that a replayed job trains on the same
// rows.
import { shuffle, type Random } from '#base/random';
import type { TrainingRow } from '#engine/training-engine';
import { createLayout, createRowFilling, fillRows, type FillingRule } from './row-filling.ts';
import type { RowLayout, Sharing } from './row-layout.ts';
import { trainedCount, type TokenSequence } from './token-sequence.ts';

export interface Datum extends TokenSequence {
  /** Of each trained token; with `runAdvantages`, their mean. */
  readonly advantage: number;
  /** Of the tokens of each run, if turns have rewards of their own. */
  readonly runAdvantages?: readonly number[];
  /** For each trained token. */
  readonly weight: number;
  /** Set for RL jobs. */
  readonly origin?: Origin;
}

/** Which part of a job's groups a sequence was made from, by index. */
export interface Origin {
  readonly group: number;
  readonly trajectory: number;
  readonly sequence: number;
}

export interface PackedRow {
  readonly members: readonly Datum[];
  /** Computed each time it is called: a job's rows together would be several times as large as its sequences. */
  readonly row: TrainingRow;
  readonly sequenceCount: number;
  /** Tokens that shared prefixes saved in this row. */
  readonly tokensSaved: number;
}

/** Which tokens of a sequence are computed. `predicting`: all but the last, which predicts nothing; `all`: including it, as the reference trainer does for RL, where a row is a step. */
type Computed = 'all' | 'predicting';

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
  const sequences = groups.flatMap((rollouts) => shuffle([...rollouts], random).flat());
  const order = shuffle(fillRows(sequences, fillingRule(rowLength, sharing, 'all')), random);
  const longest = order.reduce((best, row, i) => (row.size > order[best]!.size ? i : best), 0);
  return [...order.slice(longest, longest + 1), ...order.slice(0, longest), ...order.slice(longest + 1)].map(
    ({ members }) => createPackedRow(members, sharing),
  );
}

/** Packs in order of arrival; yields a row as soon as it is full. */
export async function* packInOrder(
  data: AsyncIterable<Datum>,
  rowLength: number,
  sharing: Sharing = 'shared',
): AsyncGenerator<PackedRow> {
  const filling = createRowFilling(fillingRule(rowLength, sharing, 'predicting'));
  for await (const datum of data) {
    const full = filling.add(datum);
    if (full) yield createPackedRow(full.members, sharing, 'predicting');
  }
  const last = filling.last();
  if (last) yield createPackedRow(last.members, sharing, 'predicting');
}

/** Limit on the sequences of a row. In tokens: about 10 MB. */
const MEMBERS_COST_MAX = 1_000_000;
/** Memory of a sequence in addition to its tokens. */
const MEMBER_COST = 100;

const fillingRule = (rowLength: number, sharing: Sharing, computed: Computed): FillingRule<Datum> => ({
  rowLength,
  sharing,
  tokensOf: (datum) => computedTokens(datum, computed),
  costOf: ({ tokens }) => tokens.length + MEMBER_COST,
  costMax: MEMBERS_COST_MAX,
});

const computedTokens = ({ tokens }: Datum, computed: Computed): Int32Array =>
  computed === 'all' ? tokens : tokens.subarray(0, -1);

/** A row is determined by its members, so it can be planned in another process. */
export const createPackedRow = (
  members: readonly Datum[],
  sharing: Sharing = 'shared',
  computed: Computed = 'all',
): PackedRow => ({
  members,
  get row() {
    return layRow(layoutOf(members, sharing, computed), members);
  },
  sequenceCount: members.length,
  get tokensSaved() {
    const tokens = members.reduce((sum, datum) => sum + computedTokens(datum, computed).length, 0);
    return tokens - layoutOf(members, sharing, computed).size;
  },
});

function layoutOf(members: readonly Datum[], sharing: Sharing, computed: Computed): RowLayout {
  const layout = createLayout(sharing);
  for (const datum of members) layout.add(computedTokens(datum, computed));
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
    advantages.set(tokenAdvantages(datum), next);
    for (let i = 1; i < datum.tokens.length; i++) {
      if (datum.trained[i] === 0) continue;
      predictFrom[next] = places[sequence]![i - 1]!;
      targets[next] = datum.tokens[i]!;
      sequenceIds[next] = sequence;
      oldLogprobs[next] = datum.logprobs[i]!;
      weights[next] = datum.weight;
      next++;
    }
  });
  const inputs = { oldLogprobs, advantages, weights };
  return { tokens, positions, segments, parents, predictFrom, targets, sequenceIds, inputs };
}

/** `[trained]` */
function tokenAdvantages(datum: Datum): Float32Array {
  const { advantage, runs, runAdvantages } = datum;
  const all = new Float32Array(trainedCount(datum)).fill(advantage);
  if (!runs || !runAdvantages) return all;
  let from = 0;
  runs.forEach(({ length }, i) => {
    all.fill(runAdvantages[i]!, from, from + length);
    from += length;
  });
  return all;
}
