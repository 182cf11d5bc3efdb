// How a job would read a file of training data: counts, the first rows with their trained tokens, and what is odd. For
// `whetstone data check`; a job reads the same rows with the same functions.
import { counted } from '#base/counted';
import { splitLines } from '#base/lines';
import type { PreferencePair } from '#domain/dpo';
import { AppError } from '#domain/errors';
import type { ReadLine, SftRow } from '#domain/sft';
import { readDatasetLine } from '#rows/dataset-line';
import { readPreferencePair } from '#rows/dpo';
import { tokenTexts } from '#text/detokenizer';
import type { TextModel } from '#text/text-model';
import type { RowSequences } from '#training/sft-rows';
import { createConversationEncoder } from './conversation-encoder.ts';
import { LINE_BYTES_MAX, readText } from './sft-dataset.ts';
import { tokenizeRow } from './tokenize-row.ts';
import { createUnusedFields } from './unused-fields.ts';

export interface CheckedModel {
  readonly id: string;
  readonly text: TextModel;
}

export interface CheckRequest {
  readonly assistantTurns: 'all' | 'last';
  /** How many rows are shown with their tokens. */
  readonly shownRows: number;
  /** Absent: pairs are read as by a DPO job, and all other rows as by an SFT job. */
  readonly job?: 'dpo';
}

/** A part of a sequence. */
export interface ShownRun {
  readonly text: string;
  readonly trained: boolean;
}

export interface ShownRow {
  readonly line: number;
  readonly kind: RowKind;
  readonly sequences: readonly {
    readonly tokens: number;
    readonly trainedTokens: number;
    readonly runs: readonly ShownRun[];
  }[];
}

export type RowKind = 'conversation' | 'text' | 'pair';

export interface LineProblem {
  readonly line: number;
  readonly problem: string;
}

export interface DataReport {
  readonly model: string;
  readonly rows: Readonly<Record<RowKind, number>>;
  readonly tokens: number;
  readonly trainedTokens: number;
  readonly longest: number;
  /** Lines that no job accepts, the first twenty; a job with one of them trains nothing. */
  readonly invalid: { readonly count: number; readonly first: readonly LineProblem[] };
  /** Rows that are not trained, by reason, with the first line of each. */
  readonly skipped: Readonly<
    Record<string, { readonly rows: number; readonly firstLine: number; readonly problem: string | null }>
  >;
  readonly warnings: readonly string[];
  readonly shown: readonly ShownRow[];
}

const PROBLEMS_SHOWN = 20;

/** Whether there is a job that would take every line, and train something. */
export const isTrainable = ({ invalid, rows, trainedTokens }: DataReport): boolean =>
  invalid.count === 0 && !isMixed(rows) && trainedTokens > 0;

const isMixed = ({ conversation, text, pair }: DataReport['rows']): boolean => pair > 0 && conversation + text > 0;

/** Throws whatever reading `content` throws. */
export async function checkData(
  content: AsyncIterable<Uint8Array>,
  { id, text }: CheckedModel,
  { assistantTurns, shownRows, job }: CheckRequest,
): Promise<DataReport> {
  const encoder = createConversationEncoder(id, text, text.tokenizer.vocabSize);
  const unused = createUnusedFields(encoder);
  const rows: Record<RowKind, number> = { conversation: 0, text: 0, pair: 0 };
  const invalid = { count: 0, first: [] as LineProblem[] };
  const skipped: Record<string, { rows: number; firstLine: number; problem: string | null }> = {};
  const shown: ShownRow[] = [];
  const sum = { tokens: 0, trainedTokens: 0, longest: 0, rewritten: 0, endless: 0 };
  const readRow: (line: string) => ReadLine<SftRow | PreferencePair> =
    job === 'dpo' ? readPreferencePair : readDatasetLine;
  let line = 0;
  for await (const bytes of splitLines(content, LINE_BYTES_MAX)) {
    line++;
    const read = readText(bytes, line, readRow);
    if (read === null) continue;
    if ('problem' in read) {
      if (++invalid.count <= PROBLEMS_SHOWN) invalid.first.push({ line, problem: read.problem });
      continue;
    }
    const kind = kindOf(read.row);
    rows[kind]++;
    unused.note(read);
    const { sequences, problem, refusal, endlessTurns = 0 } = await tokenize(read.row);
    sum.endless += endlessTurns;
    if (problem !== null) {
      const known = (skipped[problem] ??= { rows: 0, firstLine: line, problem: refusal });
      known.rows++;
      continue;
    }
    if (kind !== 'pair' && sequences.length > 1) sum.rewritten++;
    const lengths = sequences.map(({ tokens, trained }) => ({
      tokens: tokens.length,
      trainedTokens: trained.reduce((count, one) => count + one, 0),
    }));
    for (const { tokens, trainedTokens } of lengths) {
      sum.tokens += tokens;
      sum.trainedTokens += trainedTokens;
      sum.longest = Math.max(sum.longest, tokens);
    }
    if (shown.length < shownRows) {
      const runs = sequences.map(({ tokens, trained }) => runsOf(tokenTexts(text.tokenizer, tokens), trained));
      shown.push({ line, kind, sequences: lengths.map((each, i) => ({ ...each, runs: runs[i]! })) });
    }
  }

  async function tokenize(row: SftRow | PreferencePair): Promise<RowSequences & { refusal: string | null }> {
    try {
      return { ...(await tokenizeRow(row, encoder, { assistantTurns, lengthMax: text.contextLength })), refusal: null };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { sequences: [], problem: 'refused_by_template', refusal: error.message };
    }
  }

  const { rewritten, endless, ...counts } = sum;
  const warnings = [
    ...unused.warnings(),
    ...(isMixed(rows)
      ? ['The file has both preference pairs and other rows: no job takes it. Make a file of the pairs, for a DPO job.']
      : []),
    ...(rewritten > 0
      ? [
          `The chat template rewrites earlier turns of ${counted(rewritten, 'row')}, so each of those turns is a sequence of its own.`,
        ]
      : []),
    ...(endless > 0
      ? [
          `No end of turn is known for ${counted(endless, 'turn')}: the model would not learn to stop. Set eos_token in tokenizer_config.json.`,
        ]
      : []),
  ];
  return { model: id, rows, ...counts, invalid, skipped, warnings, shown };
}

const kindOf = (row: SftRow | PreferencePair): RowKind =>
  'chosen' in row ? 'pair' : 'completion' in row ? 'text' : 'conversation';

/** Tokens that follow each other and are all trained, or all context. */
function runsOf(texts: readonly string[], trained: Uint8Array): ShownRun[] {
  const runs: { text: string; trained: boolean }[] = [];
  for (const [i, text] of texts.entries()) {
    const last = runs.at(-1);
    if (last && last.trained === (trained[i] === 1)) last.text += text;
    else runs.push({ text, trained: trained[i] === 1 });
  }
  return runs;
}
