// How far each family is from PyTorch on its golden model, as the table in docs/guides/models.md has it: logits with and
// without an adapter, logits after two thousand tokens, and the gradient of every LoRA matrix.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { readDecoderConfig } from '#model-files/decoder-config';
import { linearLayers } from '#model-files/lora';
import { readPeftDirectory } from '#model-files/peft-directory';
import { maxDistance, relativeDistance } from '../test/golden/distance.ts';
import {
  FAMILIES,
  fixturePath,
  openModelFixture,
  readAllTensors,
  SEQUENCES,
  type ModelFixture,
} from '../test/golden/fixture.ts';
import { readGradients } from '../test/golden/gradients.ts';
import { goldenLoss } from '../test/golden/loss-programs.ts';
import { openServingForward } from '../test/golden/serving-forward.ts';
import { trainingRow } from '../test/golden/training-rows.ts';
import { aSession } from '../test/learning/a-session.ts';

const POSITIONS = 2048;
const LOSS = 'cross_entropy';

async function logitsGaps({ model, adapter: directory, expected, tensors }: ModelFixture, far: Float32Array) {
  const config = { ...(await readDecoderConfig(model)), maxPositions: POSITIONS };
  const adapter = await readPeftDirectory(directory, linearLayers(config));
  const forward = await openServingForward(config, model);
  let near = 0;
  for (const name of SEQUENCES) {
    for (const [kind, by] of [
      ['base', null],
      ['adapter', adapter],
    ] as const) {
      const [logits] = await forward.logits([expected.sequences[name]], by);
      near = Math.max(near, maxDistance(logits!, tensors.get(`${kind}.logits.${name}`)!));
    }
  }
  const tokens = Array.from({ length: POSITIONS }, (_, i) => (i * 7919 + (i >> 5) * 104_729) % config.vocab);
  const [logits] = await forward.logits([tokens], null, 256);
  await forward.close();
  const rows = [1023, 2047].flatMap((row) => [...logits!.subarray(row * config.vocab, (row + 1) * config.vocab)]);
  return { near, far: maxDistance(rows, far.subarray(0, rows.length)) };
}

async function gradientGap(fixture: ModelFixture, scratch: string): Promise<number> {
  const options = { modelDirectory: fixture.model, threads: 1, memoryBytes: 4e9, log: silentLog };
  const engine = await openOnnxTrainingEngine(options);
  const session = await engine.open(
    aSession({ from: fixture.adapter, lora: { rank: 4, alpha: 8, seed: 0 } }),
    AbortSignal.timeout(60_000),
  );
  await session.forwardBackward(
    trainingRow(fixture, 'one shared prompt', LOSS),
    goldenLoss(LOSS, fixture.expected.clip),
  );
  const gradients = await readGradients(session, scratch);
  await session.close();
  await engine.close();
  const gaps = [...gradients].map(([name, own]) =>
    relativeDistance(own, fixture.tensors.get(`gradients.${LOSS}.${name}`)!),
  );
  return Math.max(...gaps);
}

const far = await readAllTensors(fixturePath('rope/expected.safetensors'));
const scratch = await mkdtemp(join(tmpdir(), 'whetstone-families-'));
console.log('| family | logits | logits at 2,048 tokens | LoRA gradient, relative |');
for (const family of FAMILIES) {
  const fixture = await openModelFixture(family);
  const logits = await logitsGaps(fixture, far.get(`logits.${family}`)!);
  const gradient = await gradientGap(fixture, join(scratch, family));
  const figures = [logits.near, logits.far, gradient].map((gap) => gap.toExponential(1));
  console.log(`| ${family} | ${figures.join(' | ')} |`);
}
await rm(scratch, { recursive: true });
