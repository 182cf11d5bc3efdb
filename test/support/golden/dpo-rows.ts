// The DPO jobs of fixtures/dpo (python/golden/make_dpo.py): lines of a file, planned into batches as a job plans them. For tests
// that compare an engine with that fixture. They start from the adapter of fixtures/sft.
import { expect } from 'vitest';
import { readDpoJob } from '#api/training/dpo-job';
import { readPreferencePair } from '#rows/dpo';
import type { DpoConfigInput } from '#domain/dpo';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { readTextModel } from '#text/text-model';
import type { DpoPlan } from '#training/dpo-job';
import type { RowBudget } from '#training/row-budget';
import type { StepMetrics } from '#training/step-metrics';
import { planPairs } from '../training/planned-dpo.ts';
import { readFixture } from './fixture.ts';
import { NO_LIMITS } from './no-limits.ts';
import { STARTER } from './sft-rows.ts';

/** By LoRA parameter: its norm, then projections on waves. */
export type Sketches = Readonly<Record<string, readonly number[]>>;

interface GoldenPairs {
  readonly loss: number;
  readonly metrics: Readonly<Record<string, number>>;
}

interface GoldenJobs {
  readonly tolerance: number;
  readonly batchSize: number;
  readonly learningRate: number;
  readonly rows: readonly unknown[];
  /** `[pair]` chosen, rejected: prompt and answer. */
  readonly tokens: readonly (readonly (readonly number[])[])[];
  /** `[pair]` chosen, rejected: tokens of the answer. */
  readonly answers: readonly (readonly number[])[];
  readonly jobs: readonly {
    readonly config: Readonly<Record<string, unknown>>;
    /** By batch, over AdamW steps; the reference is the initial policy. `adapter`: of one job, after the first step. */
    readonly steps: readonly (GoldenPairs & { readonly gradNorm: number; readonly adapter?: Sketches })[];
    /** By batch, of the initial adapter; the reference is the base model. */
    readonly againstBase: readonly (GoldenPairs & { readonly gradients?: Sketches })[];
  }[];
}

export const dpoJobs = readFixture<GoldenJobs>('dpo/expected.json');

export async function planDpoCase(
  config: Readonly<Record<string, unknown>>,
  more: DpoConfigInput = {},
  budget: RowBudget = NO_LIMITS,
): Promise<DpoPlan> {
  const pairs = dpoJobs.rows.map((row) => {
    const read = readPreferencePair(JSON.stringify(row));
    if ('problem' in read) throw new Error(read.problem);
    return read.row;
  });
  const encoder = createConversationEncoder('starter', await readTextModel(STARTER), 1626);
  const { batchSize: batch_size, learningRate: learning_rate } = dpoJobs;
  const request = {
    model_id: '00000000-0000-4000-8000-000000000000',
    training_data_url: 'wandb-artifact:///e/p/n:v0',
    config: { batch_size, learning_rate, ...config },
  };
  return planPairs(pairs, { ...readDpoJob(request).config, ...more }, { encoder, budget });
}

/** Rewards and margins are differences of log-probabilities, and as exact as those. */
export function expectPairs(step: StepMetrics, expected: GoldenPairs): void {
  const { tolerance } = dpoJobs;
  expect(Math.abs(step['loss']! / expected.loss - 1)).toBeLessThan(tolerance);
  const size = Math.max(...Object.values(expected.metrics).map(Math.abs));
  for (const [name, value] of Object.entries(expected.metrics))
    expect(Math.abs(step[name]! - value), name).toBeLessThan(tolerance * size);
}
