// A whole RL job against PyTorch: the wire's options → plan → rows with shared prefixes → loss, metrics and LoRA gradients of
// one gradient step, for every combination in fixtures/rl (python/golden/make_rl.py, which reads every sequence alone).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rlConfig } from '#api/schema/rl-config';
import { silentLog } from '#base/log';
import type { History, RlConfigInput, TrajectoryGroup } from '#domain/trajectory';
import { createOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { OpenSessionOptions, TrainingEngine, TrainingSession } from '#engine/training-engine';
import { policyLoss } from '#training/losses';
import { computeLogprobs, withOtherPolicies, type OtherPolicies } from '#training/other-policies';
import type { PackedRow } from '#training/packing';
import { planRlJob, type RlPlan } from '#training/rl-plan';
import { openModelFixture, readFixture, type ModelFixture } from './fixture.ts';
import { readGradients, sketchError } from './gradients.ts';

interface GoldenHistory {
  readonly prompt: readonly number[];
  /** Sampled, context, sampled, … */
  readonly turns: readonly (readonly number[])[];
  /** Of all sampled tokens. */
  readonly sampled: readonly (number | null)[];
  readonly start: readonly number[];
}

interface GoldenJob {
  readonly tolerance: number;
  readonly groups: readonly (readonly { readonly reward: number; readonly histories: readonly GoldenHistory[] }[])[];
  readonly cases: readonly {
    readonly config: Readonly<Record<string, unknown>>;
    readonly signals: readonly (readonly [advantage: number, weight: number] | null)[];
    readonly loss: number;
    readonly metrics: Readonly<Record<string, number>>;
    /** By LoRA parameter: its norm, then projections on waves. */
    readonly gradients: Readonly<Record<string, readonly number[]>>;
  }[];
}

const job = readFixture<GoldenJob>('rl/expected.json');
const groups: TrajectoryGroup[] = job.groups.map((trajectories) => ({
  trajectories: trajectories.map(({ reward, histories }) => ({ histories: histories.map(toHistory), reward, metrics: {} })),
  exceptionCount: 0,
  metrics: {},
})); // prettier-ignore

function toHistory({ prompt, turns, sampled }: GoldenHistory): History {
  let tokens = [...prompt];
  let at = 0;
  return {
    tools: null,
    turns: turns.flatMap((turn, i) => {
      const promptTokenIds = tokens;
      tokens = [...tokens, ...turn];
      if (i % 2 === 1) return [];
      const logprobs = sampled.slice(at, (at += turn.length));
      const message = { role: 'assistant', content: '' };
      return [{ kind: 'sampled' as const, message, finishReason: 'stop', tokens: turn, logprobs, promptTokenIds }];
    }),
  };
}

let fixture: ModelFixture;
let engine: TrainingEngine;
let scratch: string;
beforeAll(async () => {
  fixture = await openModelFixture('qwen3');
  engine = await createOnnxTrainingEngine({ modelDirectory: fixture.model, threads: 1, log: silentLog });
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
  const session = await engine.open({ from: fixture.adapter, lora, ...options }, AbortSignal.timeout(30_000));
  return work(session).finally(() => session.close());
}

const tiny = { vocabSize: 224, renderPrompt: none, renderClosed: none, turnEnd: '', encode: none, tokenId: () => null };
function none(): never {
  throw new Error('the tokens of this job are all given');
}

/** In one row: tokens of sequences are found again by what they predict. */
const planOf = (config: RlConfigInput, rowLength = 250): Promise<RlPlan> =>
  planRlJob(
    groups,
    { ...config, packedSequenceLength: rowLength },
    { encoder: tiny, budget: engine.limits, seed: () => 'golden' },
  );

/** Of each trained token of a row, where it is in the fixture. */
function placesOf({ row }: PackedRow): { trajectory: number; history: GoldenHistory; index: number }[] {
  const all = job.groups.flat().flatMap((t, trajectory) => t.histories.map((history) => ({ trajectory, history })));
  const seen = new Map<number, number>();
  return [...row.sequenceIds].map((id) => {
    const targets = [...row.targets].filter((_, i) => row.sequenceIds[i] === id);
    const found = all.find(({ history }) => history.turns.filter((_, i) => i % 2 === 0).flat().join() === targets.join());
    const index = seen.get(id) ?? 0;
    seen.set(id, index + 1);
    return { ...found!, index };
  });
} // prettier-ignore

async function policiesOf({ config, rows }: RlPlan): Promise<OtherPolicies> {
  const start = rows.map((packed) =>
    Float32Array.from(placesOf(packed), ({ history, index }) => history.start[index]!),
  );
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
    const result = await session.forwardBackward(withOtherPolicies(row, 0, policies), policyLoss(plan.config.loss));
    return { ...result, gradients: await readGradients(session, join(scratch, name)) };
  });
}

const cases = job.cases.map((expected, i) => [JSON.stringify(expected.config), expected, i] as const);

test('there are forty combinations and more', () => expect(cases.length).toBeGreaterThan(40));

test.each(cases)('%s', async (_, expected, number) => {
  const { tolerance } = job;
  const plan = await planOf(rlConfig.parse(expected.config));
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
  // Of the sizes that are summed: where terms nearly cancel, their sum says nothing about them.
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
