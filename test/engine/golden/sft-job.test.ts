// A whole SFT job compared with Transformers and PEFT: lines of a file → tokens and labels → packed batches → loss and LoRA
// gradients of each batch, and the losses of AdamW over all of them (fixtures/sft, made by python/golden/make_sft.py, which reads
// every row alone).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import { trainSft } from '#training/sft-job';
import { aSession } from '../../support/learning/a-session.ts';
import { batchesOf } from '../../support/training/planned-sft.ts';
import { readGradients, sketchError } from '../../support/golden/gradients.ts';
import { planSftCase, SFT_ADAPTER, sftJob, STARTER } from '../../support/golden/sft-rows.ts';

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

async function withSession<T>(work: (session: TrainingSession) => Promise<T>): Promise<T> {
  const lora = { rank: 2, alpha: 4, seed: 0 };
  const session = await engine.open(aSession({ from: SFT_ADAPTER, lora }), AbortSignal.timeout(30_000));
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

const relative = (value: number, expected: number) => Math.abs(value / expected - 1);

for (const expected of sftJob.cases) {
  const turns = expected.assistantTurns;

  test(`assistant_turns ${turns}: tokens and labels are those of the template`, async () => {
    const plan = await planSftCase(turns);
    const { counts } = plan;
    const labels = expected.labels.map((places, row) => places.map((i) => expected.tokens[row]![i]!));
    const trained = (await batchesOf(plan)).flatMap(({ rows }) =>
      rows.flatMap(({ row }) => {
        const sequences = [...new Set(row.sequenceIds)];
        return sequences.map((id) => [...row.targets].filter((_, i) => row.sequenceIds[i] === id));
      }),
    );
    expect(trained).toEqual(labels);
    expect(counts.num_tokens).toBe(expected.tokens.reduce((sum, tokens) => sum + tokens.length, 0));
  });

  test.each([true, false])(`assistant_turns ${turns}, packing %s: loss and gradients of each batch`, async (packs) => {
    const plan = await planSftCase(turns, { packs });
    expect(plan.steps).toBe(expected.batches.length);
    for (const [i, batch] of expected.batches.entries()) {
      await withSession(async (session) => {
        const frozen: TrainingSession = { ...session, optimStep: async () => ({ gradNorm: 0 }) };
        const step = await trainSft(frozen, plan, i).next();
        expect(relative((step.value as Record<string, number>)['loss']!, batch.loss)).toBeLessThan(sftJob.tolerance);
        const gradients = await readGradients(session, join(scratch, `${turns}-${packs}-${i}`));
        expect([...gradients.keys()].sort()).toEqual(Object.keys(batch.gradients).sort());
        for (const [name, sketch] of Object.entries(batch.gradients)) {
          expect(sketchError(gradients.get(name)!, sketch), name).toBeLessThan(sftJob.tolerance);
        }
      });
    }
  });

  test(`assistant_turns ${turns}: AdamW over all batches`, async () => {
    const plan = await planSftCase(turns);
    await withSession(async (session) => {
      let batch = 0;
      for await (const { loss, grad_norm, learning_rate } of trainSft(session, plan, 0)) {
        expect(relative(loss!, expected.adamw.losses[batch]!), `loss ${batch}`).toBeLessThan(sftJob.tolerance);
        expect(relative(grad_norm!, expected.adamw.gradNorms[batch]!), `norm ${batch}`).toBeLessThan(sftJob.tolerance);
        expect(learning_rate).toBe(sftJob.learningRates[batch++]);
      }
      expect(batch).toBe(expected.adamw.losses.length);
    });
  });
}
