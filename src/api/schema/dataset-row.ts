// Rows of training data with their tokens, conversations and preference pairs alike: lines → domain, query and domain → wire.
import { z } from 'zod';
import type { DatasetRow, ReadDatasetLine, RowsOf } from '#services/jobs/dataset-rows';
import { readPreferencePair } from './dpo.ts';
import { pageFields } from './listing.ts';
import { isPreferenceLine, readSftLine } from './sft.ts';

export const readDatasetLine: ReadDatasetLine = (text) =>
  isPreferenceLine(text) ? readPreferencePair(text) : readSftLine(text);

export const rowsQuery = z.looseObject({
  ...pageFields,
  path: z.string().optional().meta({ description: 'Of the file. Default: the one that a job would read.' }),
  base_model: z.string().optional().meta({
    description: 'Whose chat template and tokenizer write the tokens. Default: the first base model of the server.',
  }),
  assistant_turns: z
    .enum(['all', 'last'])
    .default('all')
    .meta({ description: 'As in the config of an SFT job; of no effect on preference pairs.' }),
});

export const toRowsOf = (query: z.output<typeof rowsQuery>): RowsOf => ({
  path: query.path ?? null,
  baseModel: query.base_model ?? null,
  assistantTurns: query.assistant_turns,
});

const sequence = z.object({
  token_ids: z.array(z.int()),
  texts: z.array(z.string()).meta({
    description: 'What each token completes: joined they are the text, a token inside a character is empty.',
  }),
  trained: z.array(z.boolean()).meta({ description: 'False: context, which the loss does not count.' }),
});

const record = z.record(z.string(), z.unknown());

export const rowResponse = z.object({
  id: z.string().meta({ description: 'The line, as a cursor.' }),
  line: z.int().meta({ description: 'Of the file, from 1.' }),
  size_bytes: z.int().meta({ description: 'Of the line; of one of more than 1 MB, as much as was read.' }),
  messages: z.array(record).nullable().meta({
    description: 'Of a preference pair: the prompt. Null: the line cannot be read, or has more than 1 MB.',
  }),
  chosen: z.array(record).nullable().meta({ description: 'The preferred answer of a pair; null: the line is none.' }),
  rejected: z.array(record).nullable().meta({ description: 'The other answer of a pair; null: the line is none.' }),
  tools: z.array(record).nullable(),
  problem: z.string().nullable().meta({ description: 'Why a job would refuse the line.' }),
  beginning: z.string().nullable().meta({ description: 'Of the line, where it has no messages.' }),
  sequences: z.array(sequence).nullable().meta({
    description:
      'As they would be trained. Several where the template rewrites the past; of a pair two, chosen and rejected; none where nothing would be trained. Null: the line cannot be read, or has more than 64 kB, which is encoded in jobs only.',
  }),
});

export const toRowResponse = (read: DatasetRow): z.input<typeof rowResponse> => ({
  id: String(read.line),
  line: read.line,
  size_bytes: read.sizeBytes,
  ...messagesOf(read.row),
  tools: (read.row?.tools ?? null) && read.row!.tools!.map((tool) => ({ ...tool })),
  problem: read.problem,
  beginning: read.beginning,
  sequences:
    read.sequences &&
    read.sequences.map(({ tokens, texts, trained }) => ({
      token_ids: [...tokens],
      texts: [...texts],
      trained: Array.from(trained, (one) => one === 1),
    })),
});

function messagesOf(row: DatasetRow['row']) {
  const wire = (messages: readonly object[]) => messages.map((message) => ({ ...message }));
  if (row === null) return { messages: null, chosen: null, rejected: null };
  if ('messages' in row) return { messages: wire(row.messages), chosen: null, rejected: null };
  return { messages: wire(row.prompt), chosen: wire(row.chosen), rejected: wire(row.rejected) };
}
