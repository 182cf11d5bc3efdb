// Rows of training data with their tokens: query and domain → wire.
import { z } from 'zod';
import type { DatasetRow, RowsOf } from '#services/jobs/dataset-rows';
import { pageFields } from './listing.ts';

export const rowsQuery = z.looseObject({
  ...pageFields,
  path: z.string().optional().meta({ description: 'Of the file. Default: the one that an SFT job would read.' }),
  base_model: z.string().optional().meta({
    description: 'Whose chat template and tokenizer write the tokens. Default: the first base model of the server.',
  }),
  assistant_turns: z.enum(['all', 'last']).default('all').meta({ description: 'As in the config of a job.' }),
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
  messages: z.array(record).nullable().meta({ description: 'Null: the line cannot be read, or has more than 1 MB.' }),
  tools: z.array(record).nullable(),
  problem: z.string().nullable().meta({ description: 'Why a job would refuse the line.' }),
  beginning: z.string().nullable().meta({ description: 'Of the line, where it has no messages.' }),
  sequences: z.array(sequence).nullable().meta({
    description:
      'As they would be trained. Several where the template rewrites the past; none where nothing would be trained. Null: the line cannot be read, or has more than 64 kB, which is encoded in jobs only.',
  }),
});

export const toRowResponse = (read: DatasetRow): z.input<typeof rowResponse> => ({
  id: String(read.line),
  line: read.line,
  size_bytes: read.sizeBytes,
  messages: read.row && read.row.messages.map((message) => ({ ...message })),
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
