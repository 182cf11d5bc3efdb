// An SFT plan of rows in memory, and its batches as lists.
import type { SftConfigInput, SftRow } from '#domain/sft';
import { decodeRows, type EncodedRows } from '#training/encoded-rows';
import type { PackedRow } from '#training/packing';
import type { RowBudget } from '#training/row-budget';
import { resolveSftConfig, type BatchConfig } from '#training/sft-config';
import { planSftJob, type SftBatch, type SftPlan } from '#training/sft-plan';
import { encodeSftRows, type EncodedSftData } from '#training/sft-rows';
import type { ConversationEncoder } from '#training/conversation-encoder';

/** Files are read in chunks that end anywhere. */
const CHUNK_BYTES = 61;

export async function planRows(
  rows: Iterable<SftRow>,
  config: SftConfigInput,
  { encoder, budget }: { encoder: ConversationEncoder; budget: RowBudget },
): Promise<SftPlan> {
  const resolved = resolveSftConfig(config, null);
  const limits = { ...resolved, lengthMax: Math.min(budget.contextLength, budget.rowLengthMax) };
  return planEncoded((write) => encodeSftRows(rows, limits, encoder, write), resolved, budget);
}

export async function planEncoded<Config extends BatchConfig>(
  encode: (write: (bytes: Uint8Array) => Promise<void>) => Promise<EncodedSftData>,
  config: Config,
  budget: RowBudget,
): Promise<SftPlan<Config>> {
  const parts: Uint8Array[] = [];
  const data = await encode(async (bytes) => void parts.push(bytes));
  const all = Buffer.concat(parts);
  function* chunks(from: number): Generator<Uint8Array> {
    for (let at = from; at < all.length; at += CHUNK_BYTES)
      yield all.subarray(at, Math.min(at + CHUNK_BYTES, all.length));
  }
  const encoded: EncodedRows = { read: (from) => decodeRows(chunks(from), from) };
  return planSftJob(encoded, data, config, budget);
}

export interface ListedBatch extends Omit<SftBatch, 'rows'> {
  readonly rows: readonly PackedRow[];
}

export async function batchesOf(plan: Pick<SftPlan, 'batches'>, first = 0): Promise<ListedBatch[]> {
  const batches: ListedBatch[] = [];
  for await (const batch of plan.batches(first)) batches.push({ ...batch, rows: await listOf(batch.rows()) });
  return batches;
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
