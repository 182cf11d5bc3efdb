// A whole RL job compared with PyTorch: the wire's options → plan → rows with shared prefixes → loss, metrics and LoRA gradients
// of one gradient step, for every combination in fixtures/rl (python/golden/make_rl.py, which reads every sequence alone).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { OpenSessionOptions, TrainingEngine, TrainingSession } from '#engine/training-engine';
import { policyLoss } from '#training/losses';
import { computeLogprobs, withComparisonPolicies, type ComparisonPolicies } from '#training/comparison-policies';
import type { RlPlan } from '#training/rl-plan';
import { aSession } from '../../support/learning/a-session.ts';
import { openModelFixture, type ModelFixture } from '../../support/golden/fixture.ts';
import { readGradients, sketchError } from '../../support/golden/gradients.ts';
import { placesOf, planRlCase, rlJob, startLogprobs } from '../../support/golden/rl-rows.ts';
import { trainRow } from '../../support/learning/one-row.ts';

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

async function withSession<T>(
  options: Partial<OpenSessionOptions>,
  work: (s: TrainingSession) => Promise<T>,
): Promise<T> {
  const lora = { rank: 4, alpha: 8, seed: 0 };
  const session = await engine.open(aSession({ from: fixture.adapter, lora, ...options }), AbortSignal.timeout(30_000));
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

async function policiesOf({ config, rows }: RlPlan): Promise<ComparisonPolicies> {
  const start = rows.map(startLogprobs);
  const reference = await withSession({ from: null }, (base) => computeLogprobs(base, rows, async () => true));
  return { start: config.loss.precalculates ? start : null, reference: config.loss.kl ? reference : null };
}

interface Step {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly gradients: ReadonlyMap<string, Float32Array>;
}

async function stepOver(plan: RlPlan, name: string): Promise<Step> {
  const policies = await policiesOf(plan);
  return withSession({}, async (session) => {
    const { row } = plan.rows[0]!;
    const result = await trainRow(session, withComparisonPolicies(row, 0, policies), policyLoss(plan.config.loss));
    return { ...result, gradients: await readGradients(session, join(scratch, name)) };
  });
}

const cases = rlJob.cases.map((expected, i) => [JSON.stringify(expected.config), expected, i] as const);

test('there are forty combinations and more', () => expect(cases.length).toBeGreaterThan(40));

test.each(cases)('%s', async (_, expected, number) => {
  const { tolerance } = rlJob;
  const plan = await planRlCase(expected.config);
  expect(plan.rows).toHaveLength(1);
  const packed = plan.rows[0]!;
  expect(packed.tokensSaved).toBeGreaterThan(15);
  const places = placesOf(packed);
  expect(new Set(places.map(({ trajectory }) => trajectory))).toEqual(
    new Set(expected.signals.flatMap((signal, t) => (signal ? [t] : []))),
  );
  places.forEach(({ trajectory }, i) => {
    const [advantage, weight] = expected.signals[trajectory]!;
    expect(packed.row.inputs['advantages']![i]! / advantage - 1).toBeCloseTo(0, 6);
    expect(packed.row.inputs['weights']![i]! / weight - 1).toBeCloseTo(0, 6);
  });

  const { loss, metrics, gradients } = await stepOver(plan, `case-${number}`);
  // Relative to the summed magnitudes: if terms nearly cancel, their sum says nothing about them.
  const scale = Math.max(Math.abs(expected.loss), 0.1);
  expect(Math.abs(loss - expected.loss) / scale, 'loss').toBeLessThan(tolerance);
  expect(Object.keys(metrics).sort()).toEqual(Object.keys(expected.metrics).sort());
  for (const [name, value] of Object.entries(expected.metrics)) {
    expect(Math.abs(metrics[name]! - value) / Math.max(Math.abs(value), 0.1), name).toBeLessThan(tolerance);
  }
  expect([...gradients.keys()].sort()).toEqual(Object.keys(expected.gradients).sort());
  for (const [name, sketch] of Object.entries(expected.gradients)) {
    expect(sketchError(gradients.get(name)!, sketch), name).toBeLessThan(tolerance);
  }
});
