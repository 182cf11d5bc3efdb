// Sequences → rows for the trainer. Each sequence is a segment of its own: neighbours in a row do not see each other.
// The order is drawn from a seed, so that a replayed job trains on the same rows.
import { shuffle, type Random } from '#base/random';
import type { TrainingRow } from '#engine/training-engine';
import type { TokenSequence } from './tokenize.ts';

export interface Datum extends TokenSequence {
  readonly advantage: number;
  /** Of each trained token. */
  readonly weight: number;
}

export interface PackedRow {
  readonly row: TrainingRow;
  readonly sequenceCount: number;
}

/** Keeps the first `lengthMax` tokens; null when no trained token is among them. */
export function truncate(datum: Datum, lengthMax: number): Datum | null {
  if (datum.tokens.length <= lengthMax) return datum;
  const sampled = datum.sampled.slice(0, lengthMax);
  return sampled.some(isTrained) ? { ...datum, tokens: datum.tokens.slice(0, lengthMax), sampled } : null;
}

/**
 * `groups` are siblings. Shuffled inside their group, they fill rows in order; a new row starts when the next does not fit;
 * then rows are shuffled. A row is as long as what it holds: there is no padding.
 */
export function packRows(groups: readonly (readonly Datum[])[], rowLength: number, random: Random): PackedRow[] {
  const longest = Math.max(0, ...groups.flat().map(({ tokens }) => tokens.length));
  const room = Math.max(rowLength, longest);
  const rows: Datum[][] = [];
  let used = Infinity;
  for (const datum of groups.flatMap((group) => shuffle([...group], random))) {
    if (used + datum.tokens.length > room) {
      rows.push([]);
      used = 0;
    }
    rows.at(-1)!.push(datum);
    used += datum.tokens.length;
  }
  return shuffle(rows, random).map((members) => ({ row: toRow(members), sequenceCount: members.length }));
}

function toRow(members: readonly Datum[]): TrainingRow {
  const length = members.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const tokens = new Int32Array(length);
  const positions = new Int32Array(length);
  const segments = new Int32Array(length);
  const predictFrom: number[] = [];
  const sequenceIds: number[] = [];
  const inputs = { oldLogprobs: [] as number[], advantages: [] as number[], weights: [] as number[] };
  let start = 0;
  for (const [segment, datum] of members.entries()) {
    tokens.set(datum.tokens, start);
    for (let i = 0; i < datum.tokens.length; i++) {
      positions[start + i] = i;
      segments[start + i] = segment;
      const logprob = datum.sampled[i];
      if (i === 0 || !isTrained(logprob)) continue;
      predictFrom.push(start + i - 1);
      sequenceIds.push(segment);
      inputs.oldLogprobs.push(logprob);
      inputs.advantages.push(datum.advantage);
      inputs.weights.push(datum.weight);
    }
    start += datum.tokens.length;
  }
  return {
    tokens,
    positions,
    segments,
    parents: new Int32Array(members.length).fill(-1),
    predictFrom: Int32Array.from(predictFrom),
    targets: Int32Array.from(predictFrom, (i) => tokens[i + 1]!),
    sequenceIds: Int32Array.from(sequenceIds),
    inputs: Object.fromEntries(Object.entries(inputs).map(([name, values]) => [name, Float32Array.from(values)])),
  };
}

const isTrained = (logprob: number | null | undefined): logprob is number => typeof logprob === 'number';

/** Trained tokens of a sequence. The first token has no context to be predicted from. */
export const trainedCount = ({ sampled }: TokenSequence): number =>
  sampled.filter((logprob, i) => i > 0 && isTrained(logprob)).length;
