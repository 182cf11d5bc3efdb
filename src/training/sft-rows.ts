// Turns rows of an SFT data set into token sequences, as bytes (encoded-rows.ts), one row at a time, so that a data set is never whole in
// memory. The same rows give the same bytes.
import { createYielder } from '#base/yield-to-loop';
import type { SftRow } from '#domain/sft';
import type { Skipped } from '#domain/training-job';
import { encodeRow } from './encoded-rows.ts';
import { createTokenLimit } from './job-tokens.ts';
import type { SftConfig } from './sft-config.ts';
import { trainedCount } from './packing.ts';
import { createSkipCount } from './skip-count.ts';
import { tokenizeHistory, type ConversationEncoder, type SequenceLimits, type TokenSequence } from './tokenize.ts';

export interface SftRowLimits extends Pick<SftConfig, 'trainedTurns'> {
  /** Rows with a longer sequence are skipped. */
  readonly lengthMax: number;
}

export interface EncodedSftData {
  readonly rows: number;
  /** Rows that are not trained, by reason. */
  readonly skipped: Skipped;
  /** Tokens of the longest sequence. */
  readonly longest: number;
}

/** On disk: 2.5 GB. */
const DATA_TOKENS_MAX = 500_000_000;
const WRITTEN_BYTES = 1 << 18;

/** One row. A problem means that it is not trained. */
export interface RowSequences {
  readonly sequences: readonly TokenSequence[];
  readonly problem: string | null;
}

/** Throws `invalid_training_data` if there are too many tokens, and whatever `rows` and `write` throw. */
export const encodeSftRows = (
  rows: AsyncIterable<SftRow> | Iterable<SftRow>,
  { trainedTurns, lengthMax }: SftRowLimits,
  encoder: ConversationEncoder,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<EncodedSftData> =>
  encodeRows(rows, lengthMax, (row, limits) => tokenizeRow(row, encoder, trainedTurns, limits), write);

/** For any kind of row. Throws as encodeSftRows. */
export async function encodeRows<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  lengthMax: number,
  tokenize: (row: Row, limits: SequenceLimits) => Promise<RowSequences>,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<EncodedSftData> {
  const limits = { lengthMax, count: createTokenLimit(DATA_TOKENS_MAX) };
  const skips = createSkipCount();
  const yieldToLoop = createYielder();
  let [count, longest, held] = [0, 0, 0];
  let parts: Uint8Array[] = [];
  const flush = async () => {
    await write(Buffer.concat(parts));
    [parts, held] = [[], 0];
  };
  for await (const row of rows) {
    const { sequences, problem } = await tokenize(row, limits);
    if (problem !== null) skips.add(problem);
    const trained = problem === null ? sequences : [];
    const bytes = encodeRow(trained);
    count++;
    for (const { tokens } of trained) longest = Math.max(longest, tokens.length);
    parts.push(bytes);
    held += bytes.length;
    if (held >= WRITTEN_BYTES) await flush();
    await yieldToLoop();
  }
  await flush();
  return { rows: count, skipped: skips.counts(), longest };
}

/** Usually one sequence; more if the template rewrites earlier turns (for example drops old reasoning). */
async function tokenizeRow(
  { messages, tools }: SftRow,
  encoder: ConversationEncoder,
  trainedTurns: SftConfig['trainedTurns'],
  limits: SequenceLimits,
): Promise<RowSequences> {
  const turns = messages.map((message) => ({ kind: 'message' as const, message }));
  const { sequences, cut } = await tokenizeHistory({ turns, tools }, encoder, trainedTurns, limits);
  const trained = sequences.filter((sequence) => trainedCount(sequence) > 0);
  return {
    sequences: trained,
    problem: cut.sequences > 0 ? 'too_long' : trained.length === 0 ? 'no_trainable_tokens' : null,
  };
}
