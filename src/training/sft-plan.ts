// An SFT job's rows → batches of packed rows, in the order of the file, and an account of what is not trained. The same rows
// give the same plan, which is what lets a job be replayed after a crash.
import { createBreather } from '#base/breather';
import { AppError } from '#domain/errors';
import type { SftConfigInput, SftRow } from '#domain/sft';
import type { Skipped } from '#domain/training-job';
import { packInOrder, trainedCount, type PackedRow } from './packing.ts';
import { rowLengthFor, type RowBudget } from './row-budget.ts';
import { resolveSftConfig, type SftConfig } from './sft-config.ts';
import { createSkipCount } from './skip-count.ts';
import { tokenizeHistory, type ConversationEncoder, type TokenSequence } from './tokenize.ts';

/** One optimiser step. */
export interface SftBatch {
  readonly rows: readonly PackedRow[];
  readonly learningRate: number;
  /** Tokens with labels: the loss is their mean. */
  readonly trainedTokens: number;
}

export interface SftPlan {
  readonly config: SftConfig;
  readonly batches: readonly SftBatch[];
  readonly validation: Omit<SftBatch, 'learningRate'>;
  /** Rows by the reason why they are not trained. */
  readonly skipped: Skipped;
  readonly counts: {
    readonly num_rows: number;
    readonly num_validation_rows: number;
    readonly num_tokens: number;
    readonly num_trainable_tokens: number;
  };
}

export interface SftPlanContext {
  readonly encoder: ConversationEncoder;
  readonly budget: RowBudget;
}

/** Throws `invalid_request` where learning rates and batches differ in number. */
export async function planSftJob(
  rows: AsyncIterable<SftRow> | Iterable<SftRow>,
  input: SftConfigInput,
  { encoder, budget }: SftPlanContext,
): Promise<SftPlan> {
  const config = resolveSftConfig(input);
  const lengthMax = Math.min(budget.contextLength, budget.rowLengthMax);
  const skips = createSkipCount();
  const breathe = createBreather();
  const read: (readonly TokenSequence[])[] = []; // by row; empty: not trained
  for await (const row of rows) {
    const sequences = tokenizeRow(row, encoder, config);
    const tooLong = sequences.some(({ tokens }) => tokens.length > lengthMax);
    if (tooLong) skips.add('too_long');
    else if (sequences.length === 0) skips.add('no_trainable_tokens');
    read.push(tooLong ? [] : sequences);
    await breathe();
  }
  const trained = read.slice(0, read.length - Math.floor(read.length * config.validationSplit));
  const held = read.slice(trained.length).flat();
  const chunks = chunked(trained, config.batchSize).map((chunk) => chunk.flat());
  const rates = ratesFor(config.learningRate, chunks.length);
  const all = [...chunks.flat(), ...held];
  const longest = all.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);
  const rowLength = rowLengthFor(null, budget, chunks.map(tokenCount), longest);
  const pack = (sequences: readonly TokenSequence[]) => ({
    rows: packInOrder(
      sequences.map((sequence) => ({ ...sequence, advantage: 0, weight: 1 })),
      rowLength,
    ),
    trainedTokens: sequences.reduce((sum, sequence) => sum + trainedCount(sequence), 0),
  });
  const batches: SftBatch[] = [];
  for (const [i, sequences] of chunks.entries()) {
    const batch = { ...pack(sequences), learningRate: rates[i]! };
    if (batch.trainedTokens > 0) batches.push(batch);
    await breathe();
  }
  return {
    config,
    batches,
    validation: pack(held),
    skipped: skips.counts(),
    counts: {
      num_rows: read.length,
      num_validation_rows: read.length - trained.length,
      num_tokens: tokenCount(all),
      num_trainable_tokens: chunks.flat().reduce((sum, sequence) => sum + trainedCount(sequence), 0),
    },
  };
}

/** Usually one sequence; more where the template rewrites the past between turns (say, drops old reasoning). */
function tokenizeRow({ messages, tools }: SftRow, encoder: ConversationEncoder, config: SftConfig) {
  const turns = messages.map((message) => ({ kind: 'message' as const, message }));
  const { sequences } = tokenizeHistory({ turns, tools }, encoder, config.trainedTurns);
  return sequences.filter((sequence) => trainedCount(sequence) > 0);
}

function ratesFor(rate: number | readonly number[], batches: number): readonly number[] {
  if (typeof rate === 'number') return new Array<number>(batches).fill(rate);
  if (rate.length === batches) return rate;
  throw new AppError(
    'invalid_request',
    `config.learning_rate has ${rate.length} values for ${batches} batches. Send one per batch, or one number for all.`,
  );
}

function chunked<T>(list: readonly T[], size: number): T[][] {
  const count = Math.ceil(list.length / size);
  return Array.from({ length: count }, (_, i) => list.slice(i * size, (i + 1) * size));
}

const tokenCount = (sequences: readonly TokenSequence[]): number =>
  sequences.reduce((sum, { tokens }) => sum + tokens.length, 0);
