// LoRA training compared with PyTorch and PEFT, through the interface that jobs use: log-probabilities, the losses of RL jobs,
// the gradient of every LoRA matrix by name, and ten AdamW steps.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import { aSession } from '../../support/learning/a-session.ts';
import { maxDistance, relativeDistance } from '../../support/golden/distance.ts';
import {
  FAMILIES,
  openModelFixture,
  readAllTensors,
  THOROUGH,
  type LossName,
  type ModelFixture,
} from '../../support/golden/fixture.ts';
import { goldenLoss } from '../../support/golden/loss-programs.ts';
import { LAYOUTS, trainingRow, type Layout } from '../../support/golden/training-rows.ts';
import { rowLogprobs, trainRow } from '../../support/learning/one-row.ts';

const LOSSES: readonly LossName[] = ['cross_entropy', 'cispo', 'ppo', 'cispo_gaps', 'ppo_gaps'];

describe.each(FAMILIES)('%s', (family) => {
  const layouts = THOROUGH.includes(family) ? LAYOUTS : (['one shared prompt'] as const);
  const losses = THOROUGH.includes(family) ? LOSSES : (['cispo_gaps'] as const);
  const cases = layouts.flatMap((layout) => losses.map((loss) => ({ layout, loss })));
  let fixture: ModelFixture;
  let engine: TrainingEngine;
  let scratch: string;
  beforeAll(async () => {
    fixture = await openModelFixture(family);
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

  /** Starts from the adapter that PEFT saved. */
  async function withSession(work: (session: TrainingSession) => Promise<void>): Promise<void> {
    const lora = { rank: 4, alpha: 8, seed: 0 };
    const session = await engine.open(aSession({ from: fixture.adapter, lora }), AbortSignal.timeout(30_000));
    try {
      await work(session);
    } finally {
      await session.close();
    }
  }

  test.each(LAYOUTS)('with %s, log-probabilities of the trained tokens are those of PyTorch', (layout) =>
    withSession(async (session) => {
      const logprobs = await rowLogprobs(session, trainingRow(fixture, layout));
      const expected = fixture.tensors.get('training.logprobs')!;
      expect(maxDistance(logprobs, expected)).toBeLessThan(fixture.expected.tolerance.logprobs);
    }),
  );

  test.each(cases)('with $layout, the $loss loss and every LoRA gradient are those of PyTorch', ({ layout, loss }) =>
    withSession(async (session) => {
      const { losses, clip, tolerance } = fixture.expected;
      const result = await trainRow(session, trainingRow(fixture, layout, loss), goldenLoss(loss, clip));
      expect(Math.abs(result.loss / losses[loss] - 1)).toBeLessThan(tolerance.loss);

      const gradients = await readGradients(session, join(scratch, `${loss}-${LAYOUTS.indexOf(layout)}`));
      const names = gradientNames(fixture, loss);
      expect([...gradients.keys()].sort()).toEqual(names);
      for (const name of names) {
        const expected = fixture.tensors.get(`gradients.${loss}.${name}`)!;
        expect(relativeDistance(gradients.get(name)!, expected), name).toBeLessThan(tolerance.gradient);
      }
    }),
  );

  test.each(layouts)('with %s, ten AdamW steps go where torch.optim.AdamW goes', (layout) =>
    withSession((session) => expectTenSteps(session, layout)),
  );

  async function expectTenSteps(session: TrainingSession, layout: Layout): Promise<void> {
    const { adamw, clip, tolerance } = fixture.expected;
    const row = trainingRow(fixture, layout);
    for (const [step, expectedLoss] of adamw.losses.entries()) {
      const { loss } = await trainRow(session, row, goldenLoss('cispo', clip));
      const { gradNorm } = await session.optimStep(adamw);
      expect(Math.abs(loss - expectedLoss), `loss of step ${step}`).toBeLessThan(tolerance.adamwLosses);
      expect(Math.abs(gradNorm / adamw.gradNorms[step]! - 1), `norm of step ${step}`).toBeLessThan(tolerance.gradNorm);
    }
    const directory = join(scratch, `adamw-${LAYOUTS.indexOf(layout)}`);
    await mkdir(directory);
    await session.save(directory, { resumable: false });
    for (const [name, values] of await readAllTensors(join(directory, 'adapter_model.safetensors'))) {
      const expected = fixture.tensors.get(`adamw.final.${name}`)!;
      expect(maxDistance(values, expected), name).toBeLessThan(tolerance.adamwFinal);
    }
  }
});

/** The summed gradient of the session: with β₁ = 0 and no clipping, it is AdamW's first moment. */
async function readGradients(session: TrainingSession, directory: string): Promise<Map<string, Float32Array>> {
  const readout = { learningRate: 0, beta1: 0, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 0 };
  await session.optimStep(readout);
  await mkdir(directory);
  await session.save(directory, { resumable: true });
  const moments = [...(await readAllTensors(join(directory, 'optimizer.safetensors')))];
  const suffix = '.exp_avg';
  return new Map(
    moments.filter(([name]) => name.endsWith(suffix)).map(([name, data]) => [name.slice(0, -suffix.length), data]),
  );
}

function gradientNames({ tensors }: ModelFixture, loss: LossName): string[] {
  const prefix = `gradients.${loss}.`;
  return [...tensors.keys()]
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .sort();
}
