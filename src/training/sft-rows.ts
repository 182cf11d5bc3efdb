// Turns rows of an SFT data set into token sequences, as bytes (encoded-rows.ts), one row at a time, so that a data set is never whole in
// memory. The same rows give the same bytes.
import { createYielder } from '#base/yield-to-loop';
import { AppError } from '#domain/errors';
import type { ConversationRow, SftRow, TextRow } from '#domain/sft';
import type { Skipped } from '#domain/training-job';
import type { ConversationEncoder } from './conversation-encoder.ts';
import { tokenizeConversation } from './conversation-tokens.ts';
import { encodeRow } from './encoded-rows.ts';
import { createTokenLimit } from './job-tokens.ts';
import type { SftConfig } from './sft-config.ts';
import { createSkipCount } from './skip-count.ts';
import { createRowRemarks } from './row-remarks.ts';
import { tokenizeText } from './text-tokens.ts';
import { UNLIMITED, type SequenceLimits, type TokenSequence } from './token-sequence.ts';

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
  /** For the job's first event. */
  readonly warnings: readonly string[];
}

/** On disk: 2.5 GB. */
const DATA_TOKENS_MAX = 500_000_000;
const WRITTEN_BYTES = 1 << 18;

/** One row. A problem means that it is not trained. */
export interface RowSequences {
  readonly sequences: readonly TokenSequence[];
  readonly problem: string | null;
  /** Turns after which no token is known that ends generation. */
  readonly endlessTurns?: number;
}

/**
 * A row that the chat template refuses is skipped. Throws `invalid_training_data` if there are too many tokens, the template's refusal if
 * it refuses every row, and whatever `rows` and `write` throw.
 */
export const encodeSftRows = (
  rows: AsyncIterable<SftRow> | Iterable<SftRow>,
  { trainedTurns, lengthMax }: SftRowLimits,
  encoder: ConversationEncoder,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<EncodedSftData> =>
  encodeRows(rows, lengthMax, (row, limits) => tokenizeSftRow(row, encoder, trainedTurns, limits), write);

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
  const remarks = createRowRemarks();
  const refused = (error: unknown): RowSequences => {
    if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error;
    remarks.refuse(count + 1, error);
    return { sequences: [], problem: 'refused_by_template' };
  };
  const flush = async () => {
    await write(Buffer.concat(parts));
    [parts, held] = [[], 0];
  };
  for await (const row of rows) {
    const { sequences, problem, endlessTurns = 0 } = await tokenize(row, limits).catch(refused);
    if (problem !== null) skips.add(problem);
    remarks.addEndless(endlessTurns);
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
  remarks.throwIfAllRefused(count);
  return { rows: count, skipped: skips.counts(), longest, warnings: remarks.warnings() };
}

/** Usually one sequence; more if the template rewrites earlier turns (for example drops old reasoning). */
export async function tokenizeSftRow(
  row: SftRow,
  encoder: ConversationEncoder,
  trainedTurns: SftConfig['trainedTurns'],
  limits: SequenceLimits = UNLIMITED,
): Promise<RowSequences> {
  if ('completion' in row) return tokenizeTextRow(row, encoder, limits);
  const { messages, tools, variables, followsPrompt } = row;
  const places = trainedPlaces(row, trainedTurns);
  const use = followsPrompt ? 'after the prompt' : 'whole';
  const read = await tokenizeConversation(messages, places, { tools, variables }, encoder, limits, use);
  return {
    sequences: read.sequences,
    problem: read.isTooLong ? 'too_long' : read.sequences.length === 0 ? 'no_trainable_tokens' : null,
    endlessTurns: read.endlessTurns,
  };
}

function trainedPlaces(
  { messages, untrained = [] }: ConversationRow,
  trainedTurns: SftConfig['trainedTurns'],
): number[] {
  const answers = messages.flatMap(({ role }, place) => (role === 'assistant' ? [place] : []));
  return (trainedTurns === 'last' ? answers.slice(-1) : answers).filter((place) => !untrained.includes(place));
}

function tokenizeTextRow(
  { prompt, completion }: TextRow,
  encoder: ConversationEncoder,
  limits: SequenceLimits,
): RowSequences {
  const [sequence] = tokenizeText(prompt, [completion], encoder);
  const endlessTurns = encoder.stops.length === 0 ? 1 : 0;
  if (!sequence?.trained.includes(1)) return { sequences: [], problem: 'no_trainable_tokens' };
  if (sequence.tokens.length > limits.lengthMax) return { sequences: [], problem: 'too_long' };
  limits.count(sequence.tokens.length);
  return { sequences: [sequence], problem: null, endlessTurns };
}
