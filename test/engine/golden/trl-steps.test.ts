// One SFT and one DPO step of TRL's own trainers (python/golden/make_trl.py) for twelve kinds of chat templates and tokenizers: the tokens of
// the rows, which of them are trained, the loss, and the gradient of every LoRA matrix.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import { readPreferencePair } from '#rows/dpo';
import { readSftLine } from '#rows/sft';
import { scoreReference, trainDpo } from '#training/dpo-job';
import { trainSft } from '#training/sft-job';
import { tokenizeSftRow } from '#training/sft-rows';
import type { StepMetrics } from '#training/step-metrics';
import { aSession } from '../../support/learning/a-session.ts';
import { planPairs } from '../../support/training/planned-dpo.ts';
import { batchesOf, planRows } from '../../support/training/planned-sft.ts';
import type { Sketches } from '../../support/golden/dpo-rows.ts';
import { encoderOf, examples } from '../../support/golden/examples.ts';
import { readFixture } from '../../support/golden/fixture.ts';
import { readGradients, sketchError } from '../../support/golden/gradients.ts';
import { NO_LIMITS } from '../../support/golden/no-limits.ts';

interface GoldenStep {
  readonly loss: number;
  readonly gradients: Sketches;
}

const golden = readFixture<{
  readonly tolerance: number;
  readonly beta: number;
  readonly cases: readonly {
    readonly template: string;
    readonly tokenizer: string;
    readonly rows: readonly unknown[];
    readonly pairs: readonly unknown[];
    /** `labels`: places of the trained tokens. */
    readonly sft: GoldenStep & { readonly tokens: readonly number[][]; readonly labels: readonly number[][] };
    /** `[pair]` chosen, rejected: prompt and answer; and the lengths of the answers. */
    readonly dpo: GoldenStep & { readonly tokens: readonly number[][][]; readonly answers: readonly number[][] };
  }[];
}>('trl/expected.json');

const directoryOf = (name: string): string =>
  fileURLToPath(new URL(`../../support/golden/fixtures/trl/${name}`, import.meta.url));

let engine: TrainingEngine;
let scratch: string;
beforeAll(async () => {
  const modelDirectory = directoryOf('model');
  engine = await openOnnxTrainingEngine({ modelDirectory, threads: 1, memoryBytes: 4e9, log: silentLog });
  scratch = await mkdtemp(join(tmpdir(), 'whetstone-trl-'));
});
afterAll(async () => {
  await engine.close();
  await rm(scratch, { recursive: true });
});

/** `from` null: the base model. */
async function withSession<T>(from: string | null, work: (session: TrainingSession) => Promise<T>): Promise<T> {
  const session = await engine.open(
    aSession({ from, lora: { rank: 2, alpha: 4, seed: 0 } }),
    AbortSignal.timeout(60_000),
  );
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/** `train` runs up to the first step of a session that takes none. */
async function expectStep(
  expected: GoldenStep,
  name: string,
  train: (session: TrainingSession) => AsyncGenerator<StepMetrics>,
) {
  await withSession(directoryOf('adapter'), async (session) => {
    const step = await train({ ...session, optimStep: async () => ({ gradNorm: 0 }) }).next();
    expect(Math.abs((step.value as StepMetrics)['loss']! / expected.loss - 1)).toBeLessThan(golden.tolerance);
    const gradients = await readGradients(session, join(scratch, name));
    expect([...gradients.keys()].sort()).toEqual(Object.keys(expected.gradients).sort());
    for (const [parameter, sketch] of Object.entries(expected.gradients))
      expect(sketchError(gradients.get(parameter)!, sketch), parameter).toBeLessThan(golden.tolerance);
  });
}

describe.each(golden.cases)(
  '$template with the tokenizer $tokenizer',
  ({ template, tokenizer, rows, pairs, sft, dpo }) => {
    const example = examples.cases.find((each) => each.template === template && each.tokenizer === tokenizer)!;
    const { encoder } = encoderOf(example);
    const into = { encoder, budget: NO_LIMITS };

    test('an SFT step is that of TRL', async () => {
      const read = rows.map((row) => {
        const line = readSftLine(JSON.stringify(row));
        if ('problem' in line) throw new Error(line.problem);
        return line.row;
      });
      const sequences = (await Promise.all(read.map((row) => tokenizeSftRow(row, encoder, 'all')))).flatMap(
        (row) => row.sequences,
      );
      expect(sequences.map(({ tokens }) => [...tokens])).toEqual(sft.tokens);
      const labels = sequences.map(({ trained }) => [...trained].flatMap((is, i) => (is ? [i] : [])));
      expect(labels).toEqual(sft.labels);
      const plan = await planRows(read, { batchSize: rows.length, learningRate: 1e-3 }, into);
      await expectStep(sft, `sft-${template}`, (session) => trainSft(session, plan, 0));
    });

    test('a DPO step against the base model is that of TRL', async () => {
      const read = pairs.map((pair) => {
        const line = readPreferencePair(JSON.stringify(pair));
        if ('problem' in line) throw new Error(line.problem);
        return line.row;
      });
      const plan = await planPairs(read, { batchSize: pairs.length, beta: golden.beta, learningRate: 1e-3 }, into);
      const members = (await batchesOf(plan)).flatMap((batch) => batch.rows.flatMap((row) => row.members));
      expect(members.map(({ tokens }) => [...tokens])).toEqual(dpo.tokens.flat());
      const answers = members.map(({ trained }) => trained.reduce((sum, one) => sum + one, 0));
      expect(answers).toEqual(dpo.answers.flat());
      const reference = (await withSession(null, (session) => scoreReference(session, plan, async () => true)))!;
      await expectStep(dpo, `dpo-${template}`, (session) => trainDpo(session, plan, reference, 0));
    });
  },
);
