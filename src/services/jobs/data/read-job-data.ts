// Turns a job's stored data into what is trained. This takes time, and as much memory as the largest piece of data needs, so large data
// is read in a separate process: inputs and outputs cross to it unchanged. job-data-reader.ts decides where it runs.
import type { DatasetVersion } from '#domain/sft';
import { readPreferencePair } from '#rows/dpo';
import { readSftLine } from '#rows/sft';
import { encodePairs, type PairLimits } from '#training/dpo-rows';
import type { Datum } from '#training/packing';
import { planRlJob, type PlanContext, type RlPlan } from '#training/rl-plan';
import { encodeSftRows, type EncodedSftData, type SftRowLimits } from '#training/sft-rows';
import type { ConversationEncoder } from '#training/conversation-encoder';
import { readRows } from './sft-dataset.ts';
import { createUnusedFields } from './unused-fields.ts';
import { readGroups, type RlJobHead } from './stored-groups.ts';

/** Yields rows of the plan as they are read. */
export interface RlData {
  readonly head: RlJobHead;
  readonly plan: Omit<RlPlan, 'rows'>;
}

/** The output: encoded rows (SFT, DPO), or the members of a row (RL). */
export interface DataCalls {
  sft: {
    readonly call: { readonly dataset: DatasetVersion; readonly limits: SftRowLimits };
    readonly piece: Uint8Array;
    readonly result: EncodedSftData;
  };
  dpo: {
    readonly call: { readonly dataset: DatasetVersion; readonly limits: PairLimits };
    readonly piece: Uint8Array;
    readonly result: EncodedSftData;
  };
  rl: {
    readonly call: Pick<PlanContext, 'budget' | 'startStep'> & {
      readonly blob: string;
      readonly hiddenSize: number | null;
      readonly exactLogprobs: boolean;
    };
    readonly piece: readonly Datum[];
    readonly result: RlData;
  };
}

export type DataKind = keyof DataCalls;

type ReadKind<K extends DataKind> = (
  call: DataCalls[K]['call'],
  content: AsyncIterable<Uint8Array>,
  encoder: ConversationEncoder,
  put: (piece: DataCalls[K]['piece']) => Promise<void>,
) => Promise<DataCalls[K]['result']>;

export const readJobData: { readonly [K in DataKind]: ReadKind<K> } = {
  async sft({ dataset, limits }, content, encoder, put) {
    const unused = createUnusedFields(encoder);
    const rows = readRows(content, dataset, readSftLine, (read) => unused.note(read));
    return withWarnings(await encodeSftRows(rows, limits, encoder, put), unused.warnings());
  },

  async dpo({ dataset, limits }, content, encoder, put) {
    const unused = createUnusedFields(encoder);
    const rows = readRows(content, dataset, readPreferencePair, (read) => unused.note(read));
    return withWarnings(await encodePairs(rows, limits, encoder, put), unused.warnings());
  },

  async rl({ blob, ...limits }, content, encoder, put) {
    const { head, groups, digest } = await readGroups<RlJobHead>(content, blob);
    // The order of rows is seeded by the data: the same data trains the same adapter, whatever the job's id.
    const { rows, ...plan } = await planRlJob(groups, head, { encoder, ...limits, seed: digest });
    for (const { members } of rows) await put(members);
    return { head, plan };
  },
};

const withWarnings = (data: EncodedSftData, warnings: readonly string[]): EncodedSftData => ({
  ...data,
  warnings: [...warnings, ...data.warnings],
});
