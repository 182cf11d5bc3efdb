// The losses of the Tinker protocol compared with PyTorch (fixtures/tinker, python/golden/make_tinker.py, which reads every datum
// alone): data as a client sends them → rows, with and without shared prefixes → the log-probability of every target, the loss,
// and every LoRA gradient; and the sum over several calls, however the data are split into calls.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine } from '#engine/training-engine';
import { planDatumRows } from '#services/tinker/datum-rows';
import type { TinkerDatum } from '#services/tinker/protobuf/forward-backward';
import { tinkerLoss } from '#training/tinker-losses';
import { aSession } from '../../support/learning/a-session.ts';
import { relativeDistance } from '../../support/golden/distance.ts';
import { openModelFixture, type ModelFixture } from '../../support/golden/fixture.ts';
import { readGradients, sketchError } from '../../support/golden/gradients.ts';
import { NO_LIMITS } from '../../support/golden/no-limits.ts';
import { dataOf, golden, type Part, type Sketches } from '../../support/golden/tinker-cases.ts';
import { trainRow } from '../../support/learning/one-row.ts';

const {
  tolerance,
  sum: { parts },
} = golden;

let fixture: ModelFixture;
let engine: TrainingEngine;
let scratch: string;
beforeAll(async () => {
  fixture = await openModelFixture('qwen3');
  engine = await openOnnxTrainingEngine({
    modelDirectory: fixture.model,
    threads: 1,
    memoryBytes: 4e9,
    log: silentLog,
  });
  scratch = await mkdtemp(join(tmpdir(), 'whetstone-golden-'));
});
afterAll(async () => {
  await engine.close();
  await rm(scratch, { recursive: true });
});

const cases = golden.cases.map(
  (each, i) => [`${each.loss} of ${each.data} ${JSON.stringify(each.config)}`, each, i] as const,
);

describe.each(['shared', 'separate'] as const)('%s beginnings', (sharing) => {
  test.each(cases)('%s', async (_, expected, number) => {
    const loss = tinkerLoss(expected.loss, expected.config);
    const data = dataOf(expected);
    const plan = await planDatumRows(data, loss, { limits: NO_LIMITS, vocabSize: 1000, sharing });
    expect(plan.rows).toHaveLength(1);
    const { row } = plan.rows[0]!;
    if (sharing === 'shared')
      expect(row.tokens.length).toBeLessThan(data.reduce((sum, { tokens }) => sum + tokens.length, 0));

    const session = await openSession();
    const result = await trainRow(session, row, loss.program);
    const gradients = await readGradients(session, join(scratch, `${number}-${sharing}`));
    await session.close();

    expectNear(result.loss, expected.value);
    for (const [i, { logprobs }] of plan.spread([result.logprobs!]).entries())
      expect(relativeDistance(logprobs, expected.logprobs[i]!)).toBeLessThan(tolerance);
    expectGradients(gradients, expected.gradients);
  });

  /** How the parts are sent: each call has the data of one part, and one loss. */
  const splits: readonly (readonly [string, readonly (readonly [Part, readonly TinkerDatum[]])[]])[] = [
    ['a call for each loss', parts.map((part) => [part, dataOf(part)])],
    ['the same, last first', parts.toReversed().map((part) => [part, dataOf(part)])],
    ['a call for each datum', parts.flatMap((part) => dataOf(part).map((datum) => [part, [datum]] as const))],
    [
      'first data, then the rest',
      [
        ...parts.map((part) => [part, dataOf(part).slice(0, 1)] as const),
        ...parts.map((part) => [part, dataOf(part).slice(1)] as const),
      ],
    ],
  ];

  test.each(splits)('calls of many losses and lengths add up to one sum: %s', async (name, calls) => {
    const session = await openSession();
    let value = 0;
    for (const [part, data] of calls) {
      const loss = tinkerLoss(part.loss, part.config);
      const { rows } = await planDatumRows(data, loss, { limits: NO_LIMITS, vocabSize: 1000, sharing });
      for (const { row } of rows) value += (await trainRow(session, row, loss.program)).loss;
    }
    const gradients = await readGradients(session, join(scratch, `${name}-${sharing}`));
    await session.close();
    expectNear(value, golden.sum.value);
    expectGradients(gradients, golden.sum.gradients);
  });
});

const openSession = () =>
  engine.open(aSession({ from: fixture.adapter, lora: { rank: 4, alpha: 8, seed: 0 } }), AbortSignal.timeout(30_000));

const expectNear = (value: number, expected: number) =>
  expect(Math.abs(value - expected) / Math.max(1, Math.abs(expected))).toBeLessThan(tolerance);

function expectGradients(gradients: ReadonlyMap<string, Float32Array>, expected: Sketches): void {
  expect([...gradients.keys()].sort()).toEqual(Object.keys(expected).sort());
  for (const [name, sketch] of Object.entries(expected))
    expect(sketchError(gradients.get(name)!, sketch), name).toBeLessThan(tolerance);
}
