// The SFT job of fixtures/sft (python/golden/make_sft.py): lines of a file, planned into batches as a job plans them. For tests
// that compare an engine with that fixture.
import { fileURLToPath } from 'node:url';
import { readSftLine } from '#rows/sft';
import type { SftConfigInput } from '#domain/sft';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { readTextModel } from '#text/text-model';
import type { SftPlan } from '#training/sft-plan';
import { planRows } from '../training/planned-sft.ts';
import { readFixture } from './fixture.ts';
import { NO_LIMITS } from './no-limits.ts';

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

export const STARTER = fileURLToPath(new URL('../../../models/starter', import.meta.url));
export const SFT_ADAPTER = fileURLToPath(new URL('fixtures/sft/adapter', import.meta.url));
export const sftJob = readFixture<GoldenJob>('sft/expected.json');

export async function planSftCase(assistantTurns: 'all' | 'last', more: SftConfigInput = {}): Promise<SftPlan> {
  const rows = sftJob.rows.map((row) => {
    const read = readSftLine(JSON.stringify(row));
    if ('problem' in read) throw new Error(read.problem);
    return read.row;
  });
  const encoder = createConversationEncoder('starter', await readTextModel(STARTER), 1626);
  const config = { assistantTurns, batchSize: sftJob.batchSize, learningRate: sftJob.learningRates, ...more };
  return planRows(rows, config, { encoder, budget: NO_LIMITS });
}
