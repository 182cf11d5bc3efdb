// The distance of a family from PyTorch on its golden model: logits with and without an adapter, logits and greedy tokens after
// two thousand tokens, and the gradient of every LoRA matrix. family-table.test.ts writes it into docs/guides/models.md.
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { readDecoderConfig } from '#model-files/decoder-config';
import { linearLayers } from '#model-files/lora';
import { readPeftDirectory } from '#model-files/peft-directory';
import { aSession } from '../../support/learning/a-session.ts';
import { maxDistance, relativeDistance } from '../../support/golden/distance.ts';
import {
  fixturePath,
  openModelFixture,
  readAllTensors,
  readFixture,
  SEQUENCES,
  type FamilyName,
  type ModelFixture,
} from '../../support/golden/fixture.ts';
import { readGradients } from '../../support/golden/gradients.ts';
import { goldenLoss } from '../../support/golden/loss-programs.ts';
import { openServingForward } from '../../support/golden/serving-forward.ts';
import { trainingRow } from '../../support/golden/training-rows.ts';
import { trainRow } from '../../support/learning/one-row.ts';

/** Largest differences; the gradient's is relative to the largest element of its matrix. */
export interface FamilyGaps {
  readonly logits: number;
  readonly farLogits: number;
  readonly gradient: number;
  /** How many of `greedyTotal` tokens equal those of Transformers before the first difference. */
  readonly greedyEqual: number;
  readonly greedyTotal: number;
}

interface FarExpectations {
  readonly greedy: Readonly<Record<FamilyName, readonly number[]>>;
  readonly greedyPrompt: number;
}

const POSITIONS = 2048;
const LOSS = 'cross_entropy';

export async function measureFamily(family: FamilyName, scratch: string): Promise<FamilyGaps> {
  const fixture = await openModelFixture(family);
  return { ...(await logitsGaps(family, fixture)), gradient: await gradientGap(fixture, scratch) };
}

async function logitsGaps(family: FamilyName, { model, adapter: directory, expected, tensors }: ModelFixture) {
  const config = { ...(await readDecoderConfig(model)), maxPositions: POSITIONS };
  const { vocab } = config;
  const adapter = await readPeftDirectory(directory, linearLayers(config));
  const forward = await openServingForward(config, model);
  let logits = 0;
  for (const name of SEQUENCES) {
    for (const [kind, by] of [
      ['base', null],
      ['adapter', adapter],
    ] as const) {
      const [own] = await forward.logits([expected.sequences[name]], by);
      logits = Math.max(logits, maxDistance(own!, tensors.get(`${kind}.logits.${name}`)!));
    }
  }
  const tokens = Array.from({ length: POSITIONS }, (_, i) => (i * 7919 + (i >> 5) * 104_729) % vocab);
  const [far] = await forward.logits([tokens], null, 256);
  const rows = [1023, 2047].flatMap((row) => [...far!.subarray(row * vocab, (row + 1) * vocab)]);
  const theirs = (await readAllTensors(fixturePath('rope/expected.safetensors'))).get(`logits.${family}`)!;

  const { greedy, greedyPrompt } = readFixture<FarExpectations>('rope/expected.json');
  const said = greedy[family];
  const [along] = await forward.logits([[...tokens.slice(0, greedyPrompt), ...said]], null, 256);
  await forward.close();
  const firstAt = (row: number): number => {
    const scores = along!.subarray(row * vocab, (row + 1) * vocab);
    return scores.indexOf(Math.max(...scores));
  };
  return {
    logits,
    farLogits: maxDistance(rows, theirs.subarray(0, rows.length)),
    greedyEqual: said.filter((token, i) => firstAt(greedyPrompt - 1 + i) === token).length,
    greedyTotal: said.length,
  };
}

async function gradientGap(fixture: ModelFixture, scratch: string): Promise<number> {
  const options = { modelDirectory: fixture.model, threads: 1, memoryBytes: 4e9, log: silentLog };
  const engine = await openOnnxTrainingEngine(options);
  const session = await engine.open(
    aSession({ from: fixture.adapter, lora: { rank: 4, alpha: 8, seed: 0 } }),
    AbortSignal.timeout(60_000),
  );
  await trainRow(session, trainingRow(fixture, 'one shared prompt', LOSS), goldenLoss(LOSS, fixture.expected.clip));
  const gradients = await readGradients(session, scratch);
  await session.close();
  await engine.close();
  const gaps = [...gradients].map(([name, own]) =>
    relativeDistance(own, fixture.tensors.get(`gradients.${LOSS}.${name}`)!),
  );
  return Math.max(...gaps);
}
