// Whole DPO jobs compared with TRL's DPOTrainer and a plain formula in float64: lines of a file → tokens → packed batches → loss,
// rewards and LoRA gradients of each batch over AdamW's steps (fixtures/dpo, made by python/golden/make_dpo.py, which reads every
// answer alone).
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import { scoreReference, trainDpo, type DpoPlan, type ReferenceScores } from '#training/dpo-job';
import type { StepMetrics } from '#training/step-metrics';
import { aSession } from '../../support/learning/a-session.ts';
import { batchesOf } from '../../support/training/planned-sft.ts';
import { dpoJobs, expectPairs, planDpoCase, type Sketches } from '../../support/golden/dpo-rows.ts';
import { readAllTensors } from '../../support/golden/fixture.ts';
import { readGradients, sketchError } from '../../support/golden/gradients.ts';
import { SFT_ADAPTER, STARTER } from '../../support/golden/sft-rows.ts';

let engine: TrainingEngine;
let scratch: string;
beforeAll(async () => {
  engine = await openOnnxTrainingEngine({ modelDirectory: STARTER, threads: 1, memoryBytes: 4e9, log: silentLog });
  scratch = await mkdtemp(join(tmpdir(), 'whetstone-golden-'));
});
afterAll(async () => {
  await engine.close();
  await rm(scratch, { recursive: true });
});

/** `from` null: the base model, with an initial adapter that changes nothing. */
async function withSession<T>(from: string | null, work: (session: TrainingSession) => Promise<T>): Promise<T> {
  const lora = { rank: 2, alpha: 4, seed: 0 };
  const session = await engine.open(aSession({ from, lora }), AbortSignal.timeout(30_000));
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

const referenceOf = async (plan: DpoPlan, from: string | null): Promise<ReferenceScores> =>
  (await withSession(from, (session) => scoreReference(session, plan, async () => true)))!;

const { tolerance } = dpoJobs;

test('tokens are those of the template, and the answers are trained', async () => {
  const plan = await planDpoCase({});
  const members = (await batchesOf(plan)).flatMap(({ rows }) => rows.flatMap((row) => row.members));
  expect(members.map(({ tokens }) => [...tokens])).toEqual(dpoJobs.tokens.flat());
  const answers = members.map(({ trained }) => trained.reduce((sum, one) => sum + one, 0));
  expect(answers).toEqual(dpoJobs.answers.flat());
});

/** Compared as a whole: AdamW's first step is the sign of each gradient, which float32 rounding decides if it is nearly 0. */
async function expectAdapter(session: TrainingSession, expected: Sketches, directory: string): Promise<void> {
  await mkdir(directory);
  await session.save(directory, { resumable: false });
  const adapter = await readAllTensors(join(directory, 'adapter_model.safetensors'));
  expect([...adapter.keys()].sort()).toEqual(Object.keys(expected).sort());
  const sizes = Object.entries(expected).map(([name, sketch]) => ({
    norm: sketch[0]!,
    error: sketchError(adapter.get(name)!, sketch) * sketch[0]!,
  }));
  const size = Math.hypot(...sizes.map(({ norm }) => norm));
  expect(Math.hypot(...sizes.map(({ error }) => error)) / size).toBeLessThan(tolerance);
}

const directoryOf = (name: string): string => join(scratch, name.replaceAll(/\W/g, '-'));

const LAYOUTS = {
  'shared prompts': {},
  'every answer alone': { packs: false },
} as const;

for (const { config, steps, againstBase } of dpoJobs.jobs) {
  const name = Object.values(config).join(' ');

  test.each(Object.entries(LAYOUTS))(`${name}, %s: loss, rewards and norms along AdamW`, async (layout, more) => {
    const plan = await planDpoCase(config, more);
    const reference = await referenceOf(plan, SFT_ADAPTER);
    await withSession(SFT_ADAPTER, async (session) => {
      let at = 0;
      for await (const step of trainDpo(session, plan, reference, 0)) {
        const { gradNorm, adapter } = steps[at]!;
        expectPairs(step, steps[at]!);
        expect(Math.abs(step['grad_norm']! / gradNorm - 1), `norm ${at}`).toBeLessThan(tolerance);
        if (adapter) await expectAdapter(session, adapter, directoryOf(`${name} ${layout}`));
        at++;
      }
      expect(at).toBe(steps.length);
    });
  });

  test(`${name}, against the base model: loss, rewards and gradients`, async () => {
    const plan = await planDpoCase(config);
    const reference = await referenceOf(plan, null);
    for (const [at, expected] of againstBase.entries()) {
      await withSession(SFT_ADAPTER, async (session) => {
        const frozen: TrainingSession = { ...session, optimStep: async () => ({ gradNorm: 0 }) };
        expectPairs((await trainDpo(frozen, plan, reference, at).next()).value as StepMetrics, expected);
        if (!expected.gradients) return;
        const gradients = await readGradients(session, directoryOf(`${name} gradients`));
        expect([...gradients.keys()].sort()).toEqual(Object.keys(expected.gradients).sort());
        for (const [parameter, sketch] of Object.entries(expected.gradients))
          expect(sketchError(gradients.get(parameter)!, sketch), parameter).toBeLessThan(tolerance);
      });
    }
  });
}
