// A row whose sequences share their prefixes, compared with the same sequences in full: loss, metrics and every gradient.
import { expect, test } from 'vitest';
import { createRandom } from '#base/random';
import type { TrainingRow } from '#engine/training-engine';
import { policyLoss } from '#training/losses';
import { packRows, type Datum, type PackedRow } from '#training/packing';
import { lossConfig } from '../../support/training/loss-config.ts';
import { openGraph, TINY_LORA } from './run-graph.ts';
import { TINY_FAMILIES, tinyConfig } from '../../support/learning/tiny-decoders.ts';

const random = createRandom(9);
const draw = (count: number): number[] => Array.from({ length: count }, () => random.integer(19));

/** Trains what follows `context`, and the tokens of the context that `trained` selects. */
function datum(context: readonly number[], sampled: number, trained = context.map(() => 0)): Datum {
  const flags = Uint8Array.from([...trained, ...Array.from({ length: sampled }, () => 1)]);
  return {
    tokens: Int32Array.from([...context, ...draw(sampled)]),
    trained: flags,
    logprobs: Float32Array.from(flags, (flag) => (flag ? -1 - 2 * random.next() : NaN)),
    advantage: random.next() - 0.5,
    weight: 0.5 + random.next(),
  };
}

/** Two groups; in the first, a second history continues from the middle of what another sampled. */
function makeGroups(): Datum[][][] {
  const [one, other] = [draw(9), draw(6)];
  const first = datum(one, 6);
  const branch = datum([...first.tokens.slice(0, 12)], 4, [...first.trained.slice(0, 12)]); // its prefix is trained in both
  return [
    [[first, branch], [datum(one, 3)], [datum(one, 1)]],
    [[datum(other, 5)], [datum(other, 4)]],
  ];
}

/** The slow, plain row: each sequence with its own copy of everything. */
function unshared({ row }: PackedRow, data: readonly Datum[]): TrainingRow {
  const tokens: number[] = [];
  const positions: number[] = [];
  const segments: number[] = [];
  const predictFrom: number[] = [];
  data.forEach((datum, sequence) => {
    datum.tokens.forEach((token, i) => {
      if (i > 0 && datum.trained[i] === 1) predictFrom.push(tokens.length - 1);
      tokens.push(token);
      positions.push(i);
      segments.push(sequence);
    });
  });
  return {
    ...row,
    tokens: Int32Array.from(tokens),
    positions: Int32Array.from(positions),
    segments: Int32Array.from(segments),
    parents: new Int32Array(data.length).fill(-1),
    predictFrom: Int32Array.from(predictFrom),
  };
}

/** In the order of the row: its targets identify the sequence. */
function membersOf({ row }: PackedRow, groups: readonly Datum[][][]): Datum[] {
  const ids = [...new Set(row.sequenceIds)];
  return ids.map((id) => {
    const targets = [...row.targets].filter((_, i) => row.sequenceIds[i] === id).join();
    return groups.flat(2).find((d) => d.tokens.filter((_, i) => d.trained[i] === 1).join() === targets)!;
  });
}

test.each(TINY_FAMILIES)('%s: shared prefixes change neither loss nor gradient beyond 1e-6', async (family) => {
  const groups = makeGroups();
  const [packed, ...others] = packRows(groups, 100, createRandom(1));
  expect(others).toEqual([]);
  expect(packed!.tokensSaved).toBeGreaterThan(25);
  const graph = await openGraph(
    { ...tinyConfig(family), maxPositions: 128 },
    TINY_LORA,
    policyLoss(lossConfig({ importanceSampling: 'average' })),
  );
  const shared = await graph.run([packed!.row]);
  const plain = await graph.run([unshared(packed!, membersOf(packed!, groups))]);
  await graph.close();
  expect(Math.abs(shared.loss - plain.loss)).toBeLessThan(1e-6 * Math.max(1, Math.abs(plain.loss)));
  let [squares, differences] = [0, 0];
  for (const [name, expected] of plain.gradients) {
    const found = shared.gradients.get(name)!;
    const size = expected.reduce((sum, x) => sum + x * x, 0);
    const distance = expected.reduce((sum, x, i) => sum + (x - found[i]!) ** 2, 0);
    // For one tensor: kernels of processors without AVX-512 add in a different order and leave 1.15e-6.
    expect(Math.sqrt(distance / size), name).toBeLessThan(2e-6);
    [squares, differences] = [squares + size, differences + distance];
  }
  expect(Math.sqrt(differences / squares), 'of the whole gradient').toBeLessThan(1e-6);
});
