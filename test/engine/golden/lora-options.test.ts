// Ranks, alphas, targets, seeds and rsLoRA as in PEFT's LoraConfig (python/golden/make_lora.py): the loss, the gradient of every
// LoRA matrix by name, and the matrices after one AdamW step; log-probabilities of the trainer and logits of the sampler.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { OptimizerParams, TrainingSession } from '#engine/training-engine';
import { readDecoderConfig } from '#model-files/decoder-config';
import { createLoraAdapter, linearLayers } from '#model-files/lora';
import { readPeftDirectory } from '#model-files/peft-directory';
import { aSession } from '../../support/learning/a-session.ts';
import { maxDistance, relativeDistance } from '../../support/golden/distance.ts';
import {
  fixturePath,
  openModelFixture,
  readAllTensors,
  readFixture,
  type FamilyName,
} from '../../support/golden/fixture.ts';
import { readGradients } from '../../support/golden/gradients.ts';
import { goldenLoss } from '../../support/golden/loss-programs.ts';
import { openServingForward } from '../../support/golden/serving-forward.ts';
import { trainingRow } from '../../support/golden/training-rows.ts';
import { rowLogprobs, trainRow } from '../../support/learning/one-row.ts';

const { cases, adamw, tolerance } = readFixture<{
  readonly tolerance: Readonly<Record<'logits' | 'logprobs' | 'loss' | 'gradient' | 'adamw', number>>;
  readonly adamw: OptimizerParams;
  readonly cases: Readonly<
    Record<
      string,
      { readonly family: FamilyName; readonly seed?: number; readonly loss: number; readonly gradNorm: number }
    >
  >;
}>('lora/expected.json');

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'whetstone-lora-'));
});
afterAll(() => rm(scratch, { recursive: true }));

test.each(Object.entries(cases))('%s: logits, loss, gradients and a step are those of PEFT', async (name, expected) => {
  const { model, expected: ofModel, ...fixture } = await openModelFixture(expected.family);
  const engine = await openOnnxTrainingEngine({ modelDirectory: model, threads: 1, memoryBytes: 4e9, log: silentLog });
  const row = trainingRow({ model, expected: ofModel, ...fixture }, 'one shared prompt');
  const computeLoss = (session: TrainingSession) => trainRow(session, row, goldenLoss('cross_entropy', ofModel.clip));
  const tensors = await readAllTensors(fixturePath(`lora/${name}/expected.safetensors`));
  const namesOf = (part: string) => [...tensors.keys()].filter((key) => key.startsWith(part)).sort();

  async function withSession(work: (session: TrainingSession) => Promise<void>): Promise<void> {
    const session = await engine.open(aSession({ from: fixturePath(`lora/${name}`) }), AbortSignal.timeout(30_000));
    try {
      await work(session);
    } finally {
      await session.close();
    }
  }

  const config = await readDecoderConfig(model);
  const forward = await openServingForward(config, model);
  const adapter = await readPeftDirectory(fixturePath(`lora/${name}`), linearLayers(config));
  const [logits] = await forward.logits([ofModel.sequences.short], adapter);
  await forward.close();
  expect(maxDistance(logits!, tensors.get('logits')!)).toBeLessThan(tolerance.logits);

  await withSession(async (session) => {
    expect(maxDistance(await rowLogprobs(session, row), tensors.get('logprobs')!)).toBeLessThan(tolerance.logprobs);
    const { loss } = await computeLoss(session);
    expect(Math.abs(loss / expected.loss - 1)).toBeLessThan(tolerance.loss);
    const gradients = await readGradients(session, join(scratch, `${name}-gradients`));
    expect([...gradients.keys()].map((key) => `gradients.${key}`).sort()).toEqual(namesOf('gradients.'));
    for (const [key, values] of gradients)
      expect(relativeDistance(values, tensors.get(`gradients.${key}`)!), key).toBeLessThan(tolerance.gradient);
  });
  await withSession(async (session) => {
    await computeLoss(session);
    const { gradNorm } = await session.optimStep(adamw);
    expect(Math.abs(gradNorm / expected.gradNorm - 1)).toBeLessThan(tolerance.gradient);
    const directory = join(scratch, `${name}-step`);
    await mkdir(directory);
    await session.save(directory, { resumable: false });
    const saved = await readAllTensors(join(directory, 'adapter_model.safetensors'));
    expect([...saved.keys()].map((key) => `adamw.${key}`).sort()).toEqual(namesOf('adamw.'));
    for (const [key, values] of saved)
      expect(maxDistance(values, tensors.get(`adamw.${key}`)!), key).toBeLessThan(tolerance.adamw);
  });
  await engine.close();
});

test('a seed draws the A that it draws in Python, from the distribution of PEFT, and zeros for B', async () => {
  const { family, seed } = cases['seeded']!;
  const layers = linearLayers(await readDecoderConfig(fixturePath(`${family}/model`)));
  const { rank, alpha, targets, tensors } = await readPeftDirectory(fixturePath('lora/seeded'), layers);
  const fresh = createLoraAdapter(layers, { rank, alpha, targets, seed: seed! });
  expect([...fresh.tensors.keys()]).toEqual([...tensors.keys()]);
  for (const [name, values] of fresh.tensors)
    expect(values, name).toEqual(name.includes('.lora_A.') ? tensors.get(name) : new Float32Array(values.length));
});
