// A part of a row that is cheap to compute: whole sequences from its end, each behind what it follows, while they fit; or, if not even the
// last one fits, that sequence's last tokens. Pure functions.
import type { TrainingRow } from '#engine/training-engine';

export interface RowSample {
  readonly row: TrainingRow;
  /** The places of its targets among those of the whole row. */
  readonly trained: Int32Array;
  /** Every target has the context that it has in the whole row, and so the same log-probability. */
  readonly isWhole: boolean;
}

/** The row must have targets. */
export function sampleRow(row: TrainingRow, tokensMax: number): RowSample {
  const { segments, parents, predictFrom, sequenceIds } = row;
  const sizes = new Int32Array(parents.length);
  for (const segment of segments) sizes[segment]!++;
  const segmentsOf = new Map<number, Set<number>>(); // by sequence
  for (const [i, sequence] of sequenceIds.entries()) {
    const known = segmentsOf.get(sequence) ?? new Set();
    segmentsOf.set(sequence, known);
    for (let at = segments[predictFrom[i]!]!; at >= 0 && !known.has(at); at = parents[at]!) known.add(at);
  }
  const last = sequenceIds.at(-1)!;
  const order = [last, ...[...segmentsOf.keys()].filter((each) => each !== last).reverse()];
  const kept = new Set<number>();
  const sequences = new Set<number>();
  let size = 0;
  for (const sequence of order) {
    const missing = [...segmentsOf.get(sequence)!].filter((segment) => !kept.has(segment));
    const grown = missing.reduce((sum, segment) => sum + sizes[segment]!, size);
    if (grown > tokensMax) break;
    size = grown;
    sequences.add(sequence);
    for (const segment of missing) kept.add(segment);
  }
  if (sequences.size > 0) return partOf(row, kept, (i) => sequences.has(sequenceIds[i]!));
  return endOf(row, last, segmentsOf.get(last)!, tokensMax);
}

/** Whole segments with their ancestors, and the chosen targets. */
function partOf(row: TrainingRow, kept: ReadonlySet<number>, isChosen: (target: number) => boolean): RowSample {
  const numbers = new Map([...kept].sort((a, b) => a - b).map((segment, i) => [segment, i]));
  const places = indexesWhere(row.segments, (segment) => kept.has(segment));
  const trained = indexesWhere(row.targets, (_, i) => isChosen(i));
  const sequences = new Map<number, number>();
  for (const i of trained) sequences.set(row.sequenceIds[i]!, sequences.get(row.sequenceIds[i]!) ?? sequences.size);
  return {
    row: {
      ...picked(row, places, trained),
      segments: places.map((place) => numbers.get(row.segments[place]!)!),
      parents: Int32Array.from(numbers.keys(), (segment) => numbers.get(row.parents[segment]!) ?? -1),
      sequenceIds: trained.map((i) => sequences.get(row.sequenceIds[i]!)!),
    },
    trained,
    isWhole: true,
  };
}

/** The last tokens of one sequence, up to its last target, at their positions. */
function endOf(row: TrainingRow, sequence: number, path: ReadonlySet<number>, tokensMax: number): RowSample {
  const own = indexesWhere(row.targets, (_, i) => row.sequenceIds[i] === sequence);
  const end = own.reduce((most, i) => Math.max(most, row.predictFrom[i]!), 0);
  const places = indexesWhere(row.segments, (segment, place) => path.has(segment) && place <= end).slice(-tokensMax);
  const trained = own.filter((i) => row.predictFrom[i]! >= places[0]!);
  return {
    row: {
      ...picked(row, places, trained),
      segments: new Int32Array(places.length),
      parents: Int32Array.of(-1),
      sequenceIds: new Int32Array(trained.length),
    },
    trained,
    isWhole: false,
  };
}

function picked(row: TrainingRow, places: Int32Array, trained: Int32Array) {
  const placeOf = new Map(Array.from(places, (place, i) => [place, i]));
  const inputs = Object.entries(row.inputs).map(([name, values]) => [
    name,
    Float32Array.from(trained, (i) => values[i]!),
  ]);
  return {
    tokens: places.map((place) => row.tokens[place]!),
    positions: places.map((place) => row.positions[place]!),
    predictFrom: trained.map((i) => placeOf.get(row.predictFrom[i]!)!),
    targets: trained.map((i) => row.targets[i]!),
    inputs: Object.fromEntries(inputs) as Record<string, Float32Array>,
  };
}

const indexesWhere = (values: Int32Array, holds: (value: number, index: number) => boolean): Int32Array =>
  Int32Array.from(values.keys()).filter((index) => holds(values[index]!, index));
