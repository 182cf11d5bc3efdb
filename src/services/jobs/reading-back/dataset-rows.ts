// A preview of training data: rows (conversations or preference pairs) and their tokens as a job would train them. A page reads the file
// from its beginning up to the last row shown. Long rows are not tokenized here, because that would block other requests; jobs do it in
// a separate process.
import { createYielder } from '#base/yield-to-loop';
import { splitLines } from '#base/lines';
import type { Caller } from '#domain/caller';
import type { PreferencePair } from '#domain/dpo';
import { AppError } from '#domain/errors';
import { unknownCursor, type Listing, type Page } from '#domain/page';
import type { SftRow } from '#domain/sft';
import { readDatasetLine } from '#rows/dataset-line';
import { tokenTexts } from '#text/detokenizer';
import type { Tokenizer } from '#text/tokenizer';
import type { ConversationEncoder } from '#training/conversation-encoder';
import type { NamedVersion } from '../../artifacts/artifact-name.ts';
import type { Artifacts } from '../../artifacts/artifacts.ts';
import type { BaseModels } from '../../models/base-models.ts';
import { createConversationEncoder } from '../data/conversation-encoder.ts';
import { datasetFile, readText } from '../data/sft-dataset.ts';
import { conversationsOf } from '../data/row-renderings.ts';
import { tokenizeRow, type RowsShown } from '../data/tokenize-row.ts';

export interface DatasetRow {
  /** Line number in the file, from 1. */
  readonly line: number;
  readonly sizeBytes: number;
  /** Null: the line is invalid, which `problem` explains, or too long to show. */
  readonly row: SftRow | PreferencePair | null;
  readonly problem: string | null;
  /** The beginning of the line if there is no row. */
  readonly beginning: string | null;
  /** Null: not tokenized, because there is no row, or it is too long or has too many turns. For a pair: the chosen answer, then the rejected one. */
  readonly sequences: readonly DatasetSequence[] | null;
}

export interface DatasetSequence {
  readonly tokens: Int32Array;
  readonly texts: readonly string[];
  /** For each token, 1 if it is trained. */
  readonly trained: Uint8Array;
}

export interface RowsOf {
  /** A file of the artifact; null: the one that a job would read. */
  readonly path: string | null;
  /** The base model whose template and tokenizer are used; null: the server's first. */
  readonly baseModel: string | null;
  readonly assistantTurns: 'all' | 'last';
}

export interface DatasetRows {
  /** Throws `artifact_not_found`, `base_model_not_found`, `unknownCursor`, or `invalid_request` if it is unclear which file is meant. */
  list(caller: Caller, named: NamedVersion, of: RowsOf, page: Page): Promise<Listing<DatasetRow>>;
}

export interface DatasetRowsDeps {
  readonly artifacts: Pick<Artifacts, 'get'>;
  readonly baseModels: Pick<BaseModels, 'get' | 'default'>;
}

/** A few tenths of a second of tokenization. A page ends after the row that exceeds this. */
const ENCODED_BYTES = 262_144;
const ROW_BYTES_MAX = 65_536;
/** The same for messages that the chat template writes: each turn is found in the conversation up to it. */
const WRITTEN_MESSAGES = 10_000;
const SHOWN_BYTES_MAX = 1_000_000;
const PAGE_BYTES = 4_000_000;
const BEGINNING_CHARACTERS = 2_000;

export function createDatasetRows({ artifacts, baseModels }: DatasetRowsDeps): DatasetRows {
  return {
    async list(caller, named, { path, baseModel, assistantTurns }, { after, limit }) {
      const model = baseModel === null ? baseModels.default : baseModels.get(baseModel);
      const { tokenizer, contextLength } = model.text;
      const shown = { assistantTurns, lengthMax: contextLength };
      const encoder = createConversationEncoder(model.id, model.text, model.inference.vocabSize);
      const opened = await artifacts.get(caller, named);
      const { content } = await opened.open(path ?? datasetFile(opened.artifact));
      const from = after === null ? 0 : parseLine(after);
      const yieldToLoop = createYielder();
      const rows: DatasetRow[] = [];
      let [line, read, encoded, written] = [0, 0, 0, 0];
      const isFull = () =>
        rows.length === limit || read > PAGE_BYTES || encoded > ENCODED_BYTES || written > WRITTEN_MESSAGES;
      for await (const bytes of splitLines(content, SHOWN_BYTES_MAX)) {
        await yieldToLoop();
        if (++line <= from) continue;
        if (isFull()) return { rows, hasMore: true };
        const row = readRow(bytes, line);
        if (row === null) continue;
        read += bytes.length;
        const messages = row.row ? writtenMessages(row.row) : 0;
        const isShort = bytes.length <= ROW_BYTES_MAX && messages <= WRITTEN_MESSAGES;
        if (isShort) [encoded, written] = [encoded + bytes.length, written + messages];
        rows.push({
          ...row,
          ...(row.row && isShort ? await tokenize(row.row, shown, encoder, tokenizer) : {}),
        });
      }
      if (from > line) throw unknownCursor(after!);
      return { rows, hasMore: false };
    },
  };
}

/** Returns null for an empty line. */
function readRow(bytes: Buffer, line: number): DatasetRow | null {
  const place = { line, sizeBytes: bytes.length, sequences: null };
  const beginning = () => bytes.toString('utf8', 0, BEGINNING_CHARACTERS);
  if (bytes.length > SHOWN_BYTES_MAX) return { ...place, row: null, problem: null, beginning: beginning() };
  const read = readText(bytes, line, readDatasetLine);
  if (read === null) return null;
  return 'row' in read
    ? { ...place, row: read.row, problem: null, beginning: null }
    : { ...place, row: null, problem: read.problem, beginning: beginning() };
}

/** About how many messages the chat template writes to find the turns of a row. */
const writtenMessages = (row: SftRow | PreferencePair): number =>
  conversationsOf(row).reduce(
    (sum, messages) => sum + messages.length * messages.filter(({ role }) => role === 'assistant').length,
    0,
  );

/** Returns the chat template's error instead, if there is one. */
async function tokenize(
  row: SftRow | PreferencePair,
  shown: RowsShown,
  encoder: ConversationEncoder,
  tokenizer: Tokenizer,
): Promise<Pick<DatasetRow, 'sequences'> | Pick<DatasetRow, 'problem'>> {
  try {
    const { sequences } = await tokenizeRow(row, encoder, shown);
    return {
      sequences: sequences.map(({ tokens, trained }) => ({ tokens, trained, texts: tokenTexts(tokenizer, tokens) })),
    };
  } catch (error) {
    if (error instanceof AppError) return { problem: error.message };
    throw error;
  }
}

/** The cursor is the line number. Throws `unknownCursor`. */
function parseLine(after: string): number {
  if (/^\d{1,12}$/.test(after)) return Number(after);
  throw unknownCursor(after);
}
