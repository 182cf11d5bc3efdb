// An adapter that our engine trained and saved loads in PEFT with the logits that we compute, and so does the model into which it
// is merged, in Transformers alone. The Python side needs an interpreter with python/golden/requirements.txt, named by
// WHETSTONE_PYTHON (scripts/python-env.sh).
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import type { LoraConfig } from '#domain/lora-config';
import { exportMerged } from '#model-files/export-merged';
import { exportGgufModel } from '#model-files/gguf/export-gguf';
import { makeGgufDirectory } from '#model-files/gguf/gguf-model';
import { linearLayers } from '#model-files/lora';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import { readPeftDirectory } from '#model-files/peft-directory';
import { readDecoderConfig } from '#model-files/decoder-config';
import { writeWholeModel } from '../../engine/golden/gguf-models.ts';
import { aSession } from '../../support/learning/a-session.ts';
import { runPython } from '../../support/python-script.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { FAMILIES, openModelFixture, SEQUENCES, type ModelFixture } from '../../support/golden/fixture.ts';
import { goldenLoss } from '../../support/golden/loss-programs.ts';
import { openServingForward } from '../../support/golden/serving-forward.ts';
import { trainingRow } from '../../support/golden/training-rows.ts';
import { trainRow } from '../../support/learning/one-row.ts';

const python = process.env['WHETSTONE_PYTHON'];

/** Untied; tied; tied with a soft cap; tied with a multiplier of logits. */
const HEAD_FAMILIES = ['llama', 'qwen3', 'gemma2', 'granite'] as const;
/** Those whose config.json is another one than the maker's: rope factors, caps, windows, numbers that must be floats. */
const FROM_GGUF = ['llama', 'granite', 'olmo3', 'phi3', 'gemma2', 'gemma3_text'] as const;
const CHECK = fileURLToPath(new URL('../../../python/golden/check_peft.py', import.meta.url));
const CHECK_TIMEOUT_MS = 300_000; // importing torch and PEFT from a cold disk takes a minute

/** Of one adapter, from check_peft.py: the largest differences of logits, or why it could not be compared. */
interface Compared {
  readonly logitsDistance: number;
  readonly mergedDistance: number;
  readonly error?: string;
}

describe('PEFT', skipWithoutPython('WHETSTONE_PYTHON'), () => {
  const plain: LoraConfig = { rank: 8, alpha: 16, seed: 1 };
  const stabilized = { rank: 3, alpha: 5, rankStabilized: true, targets: ['q_proj', 'down_proj'], seed: 1 };
  const onHead = { rank: 4, alpha: 8, targets: ['q_proj', 'lm_head'], seed: 1 };
  const cases = [
    ...FAMILIES.map((family) => ({ family, lora: plain })),
    { family: 'qwen3', lora: stabilized } as const,
    ...HEAD_FAMILIES.map((family) => ({ family, lora: onHead })),
  ];

  let scratch: string;
  /** In the order of the cases, all from one start of Python. */
  let compared: readonly Compared[];
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'whetstone-peft-'));
    const written = [];
    for (const { family, lora } of cases) written.push(await writeCase(scratch, family, lora));
    for (const family of FROM_GGUF) written.push(await writeGgufCase(scratch, family));
    const file = join(scratch, 'cases.json');
    await writeFile(file, JSON.stringify(written));
    compared = JSON.parse(await runPython(python!, [CHECK, file], { timeout: CHECK_TIMEOUT_MS })) as Compared[];
  }, CHECK_TIMEOUT_MS);
  afterAll(() => rm(scratch, { recursive: true }));

  test.each(FROM_GGUF.map((family, i) => [family, cases.length + i] as const))(
    'and Transformers load what comes from a GGUF file of %s, and give the same logits',
    async (family, at) => {
      const { mergedDistance, error } = compared[at]!;
      expect(error).toBeUndefined();
      expect(mergedDistance).toBeLessThan((await openModelFixture(family)).expected.tolerance.logits);
    },
  );

  test.each(cases.map((each, at) => ({ ...each, at })))(
    'and Transformers load an adapter trained here on $family of rank $lora.rank, alone and merged, and give the same logits',
    async ({ family, at }) => {
      const { logitsDistance, mergedDistance, error } = compared[at]!;
      expect(error).toBeUndefined(); // an adapter without effect is one too
      const { tolerance } = (await openModelFixture(family)).expected;
      expect(logitsDistance).toBeLessThan(tolerance.logits);
      expect(mergedDistance).toBeLessThan(tolerance.logits);
      expect(mergedDistance).toBeGreaterThan(0); // it was compared
    },
  );
});

/** Trains an adapter, merges it and computes its logits, in files that check_peft.py reads. */
async function writeCase(scratch: string, family: (typeof FAMILIES)[number], lora: LoraConfig) {
  const fixture = await openModelFixture(family);
  const name = join(scratch, `${family}-${lora.rank}`);
  const [adapter, merged, logits] = [name, `${name}-merged`, `${name}.json`];
  await mkdir(adapter);
  await trainAdapter(fixture, adapter, lora);
  await exportMerged({ base: fixture.model, adapter, out: merged, dtype: 'F32' });
  await writeFile(logits, JSON.stringify({ sequences: await computeLogits(fixture, adapter) }));
  return { base: fixture.model, adapter, merged, logits, tolerance: fixture.expected.tolerance.logits };
}

/** The fixture's adapter, merged into a model whose configuration comes from a GGUF file. */
async function writeGgufCase(scratch: string, family: (typeof FROM_GGUF)[number]) {
  const { adapter, expected } = await openModelFixture(family);
  const base = join(scratch, `${family}-whole`);
  const [merged, logits, file] = [`${base}-merged`, `${base}.json`, `${base}.gguf`];
  await writeWholeModel(family, base);
  await exportGgufModel({ base, adapter: null, out: file, name: 'tiny' }, 'F32');
  const model = await makeGgufDirectory(file, join(scratch, 'directories'));
  await exportMerged({ base: model, adapter, out: merged, dtype: 'F32' });
  await copyFile(join(model, 'config.json'), join(base, 'config.json'));
  await writeFile(logits, JSON.stringify({ sequences: await computeLogits({ model, expected }, adapter) }));
  return { base, adapter, merged, logits, tolerance: expected.tolerance.logits };
}

/** A fresh adapter, moved far enough from its zero start to change every logit. */
async function trainAdapter(fixture: ModelFixture, directory: string, lora: LoraConfig): Promise<void> {
  const engine = await openOnnxTrainingEngine({
    modelDirectory: fixture.model,
    threads: 1,
    memoryBytes: 4e9,
    log: silentLog,
  });
  const session = await engine.open(aSession({ lora }), AbortSignal.timeout(30_000));
  const row = trainingRow(fixture, 'one shared prompt');
  for (let step = 0; step < 5; step++) {
    await trainRow(session, row, goldenLoss('cross_entropy', fixture.expected.clip));
    await session.optimStep({ ...fixture.expected.adamw, learningRate: 0.01 });
  }
  await session.save(directory, { resumable: true });
  await session.close();
  await engine.close();
}

async function computeLogits(fixture: Pick<ModelFixture, 'model' | 'expected'>, directory: string) {
  const config = await readDecoderConfig(fixture.model);
  const adapter = await readPeftDirectory(directory, linearLayers(config));
  const forward = await openServingForward(config, fixture.model);
  const sequences = [];
  for (const name of SEQUENCES) {
    const tokens = fixture.expected.sequences[name];
    const [flat] = await forward.logits([tokens], adapter);
    const logits = tokens.map((_, i) => [...flat!.subarray(i * config.vocab, (i + 1) * config.vocab)]);
    sequences.push({ tokens, logits });
  }
  await forward.close();
  return sequences;
}
