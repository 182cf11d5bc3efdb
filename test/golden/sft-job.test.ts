// A whole SFT job against Transformers and PEFT: lines of a file → tokens and labels → packed batches → loss and LoRA gradients
// of each batch, and the losses of AdamW over all of them (fixtures/sft, made by python/golden/make_sft.py, which reads every
// row alone).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSftLine } from '#api/schema/sft';
import { silentLog } from '#base/log';
import { createOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import { createConversationEncoder } from '#services/conversation-encoder';
import { openTextModel } from '#text/text-model';
import { trainSft } from '#training/sft-job';
import { planSftJob, type SftPlan } from '#training/sft-plan';
import type { ConversationEncoder } from '#training/tokenize';
import { readFixture } from './fixture.ts';
import { readGradients, sketchError } from './gradients.ts';

interface GoldenJob {
  readonly tolerance: number;
  readonly batchSize: number;
  readonly learningRates: readonly number[];
  readonly rows: readonly unknown[];
  readonly cases: readonly {
    readonly assistantTurns: 'all' | 'last';
    readonly tokens: readonly (readonly number[])[];
    readonly labels: readonly (readonly number[])[];
    readonly batches: readonly {
      readonly loss: number;
      /** By LoRA parameter: its norm, then projections on waves. */
      readonly gradients: Readonly<Record<string, readonly number[]>>;
    }[];
    readonly adamw: { readonly losses: readonly number[]; readonly gradNorms: readonly number[] };
  }[];
}

const STARTER = fileURLToPath(new URL('../../models/starter', import.meta.url));
const ADAPTER = fileURLToPath(new URL('fixtures/sft/adapter', import.meta.url));
const job = readFixture<GoldenJob>('sft/expected.json');

let engine: TrainingEngine;
let encoder: ConversationEncoder;
let scratch: string;
beforeAll(async () => {
  engine = await createOnnxTrainingEngine({ modelDirectory: STARTER, threads: 1, log: silentLog });
  encoder = createConversationEncoder('starter', await openTextModel(STARTER), 1626);
  scratch = await mkdtemp(join(tmpdir(), 'whetstone-golden-'));
});
afterAll(async () => {
  await engine.close();
  await rm(scratch, { recursive: true });
});

function planOf(assistantTurns: 'all' | 'last'): Promise<SftPlan> {
  const rows = job.rows.map((row) => {
    const read = readSftLine(JSON.stringify(row));
    if ('problem' in read) throw new Error(read.problem);
    return read.row;
  });
  const config = { assistantTurns, batchSize: job.batchSize, learningRate: job.learningRates };
  return planSftJob(rows, config, { encoder, budget: engine.limits });
}

async function withSession<T>(work: (session: TrainingSession) => Promise<T>): Promise<T> {
  const lora = { rank: 2, alpha: 4, seed: 0 };
  const session = await engine.open({ from: ADAPTER, lora }, AbortSignal.timeout(30_000));
  return work(session).finally(() => session.close());
}

const relative = (value: number, expected: number) => Math.abs(value / expected - 1);

for (const expected of job.cases) {
  const turns = expected.assistantTurns;

  test(`assistant_turns ${turns}: tokens and labels are those of the template`, async () => {
    const { batches, counts } = await planOf(turns);
    const labels = expected.labels.map((places, row) => places.map((i) => expected.tokens[row]![i]!));
    const trained = batches.flatMap(({ rows }) =>
      rows.flatMap(({ row }) => {
        const sequences = [...new Set(row.sequenceIds)];
        return sequences.map((id) => [...row.targets].filter((_, i) => row.sequenceIds[i] === id));
      }),
    );
    expect(trained).toEqual(labels);
    expect(counts.num_tokens).toBe(expected.tokens.reduce((sum, tokens) => sum + tokens.length, 0));
  });

  test(`assistant_turns ${turns}: loss and gradients of each batch`, async () => {
    const plan = await planOf(turns);
    expect(plan.batches).toHaveLength(expected.batches.length);
    for (const [i, batch] of expected.batches.entries()) {
      await withSession(async (session) => {
        const one = { ...plan, batches: [plan.batches[i]!] };
        const frozen: TrainingSession = { ...session, optimStep: async () => ({ gradNorm: 0 }) };
        const step = await trainSft(frozen, one, 0).next();
        expect(relative((step.value as Record<string, number>)['loss']!, batch.loss)).toBeLessThan(job.tolerance);
        const gradients = await readGradients(session, join(scratch, `${turns}-${i}`));
        expect([...gradients.keys()].sort()).toEqual(Object.keys(batch.gradients).sort());
        for (const [name, sketch] of Object.entries(batch.gradients)) {
          expect(sketchError(gradients.get(name)!, sketch), name).toBeLessThan(job.tolerance);
        }
      });
    }
  });

  test(`assistant_turns ${turns}: AdamW over all batches`, async () => {
    const plan = await planOf(turns);
    await withSession(async (session) => {
      let batch = 0;
      for await (const { loss, grad_norm, learning_rate } of trainSft(session, plan, 0)) {
        expect(relative(loss!, expected.adamw.losses[batch]!), `loss ${batch}`).toBeLessThan(job.tolerance);
        expect(relative(grad_norm!, expected.adamw.gradNorms[batch]!), `norm ${batch}`).toBeLessThan(job.tolerance);
        expect(learning_rate).toBe(job.learningRates[batch++]);
      }
      expect(batch).toBe(expected.adamw.losses.length);
    });
  });
}
