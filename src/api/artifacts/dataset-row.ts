// Rows of training data with their tokens, conversations and preference pairs alike: query → domain, domain → wire.
import { z } from 'zod';
import type { ConversationPair, TextPair } from '#domain/dpo';
import type { DatasetRow, RowsOf } from '#services/jobs/reading-back/dataset-rows';
import { pageFields } from '../http/listing.ts';

export const rowsQuery = z.looseObject({
  ...pageFields,
  path: z.string().optional().describe('Path of the file. Default: the file that a job would read.'),
  base_model: z
    .string()
    .optional()
    .describe(
      'The base model whose chat template and tokenizer are used. Default: the first base model of the server.',
    ),
  assistant_turns: z
    .enum(['all', 'last'])
    .default('all')
    .describe('As in the config of an SFT job; no effect on preference pairs.'),
});

export const toRowsOf = (query: z.output<typeof rowsQuery>): RowsOf => ({
  path: query.path ?? null,
  baseModel: query.base_model ?? null,
  assistantTurns: query.assistant_turns,
});

const sequence = z.object({
  token_ids: z.array(z.int()),
  texts: z
    .array(z.string())
    .describe(
      'Text that each token completes: concatenated, they are the whole text. A token that ends within a character has an empty text.',
    ),
  trained: z
    .array(z.boolean())
    .describe('Whether the token is trained on. False: context, which does not count toward the loss.'),
});

const record = z.record(z.string(), z.unknown());

export const rowResponse = z
  .object({
    id: z.string().describe('Line number, as a cursor.'),
    line: z.int().describe('Line number in the file, from 1.'),
    size_bytes: z.int().describe('Size of the line in bytes; for a line larger than 1 MB, the number of bytes read.'),
    messages: z
      .array(record)
      .nullable()
      .describe(
        'The conversation; for a preference pair, the prompt. Plain text is one message with the role `text`. Null: the line cannot be read, or is larger than 1 MB.',
      ),
    chosen: z.array(record).nullable().describe('The preferred answer of a pair; null: the line is not a pair.'),
    rejected: z.array(record).nullable().describe('The rejected answer of a pair; null: the line is not a pair.'),
    tools: z.array(record).nullable(),
    problem: z.string().nullable().describe('Why a job would refuse the line; null if it would not.'),
    beginning: z.string().nullable().describe('Start of the line, if it has no messages.'),
    sequences: z
      .array(sequence)
      .nullable()
      .describe(
        'The sequences it would be trained as. There are several if the template rewrites earlier turns, two (chosen and rejected) for a pair, and none if nothing would be trained on. Null: the line cannot be read, is larger than 64 kB, or has more than 10,000 messages times answers; such lines are tokenized only in jobs.',
      ),
  })
  .meta({ title: 'DatasetRow' });

export const toRowResponse = (read: DatasetRow): z.input<typeof rowResponse> => ({
  id: String(read.line),
  line: read.line,
  size_bytes: read.sizeBytes,
  ...messagesOf(read.row),
  tools: toolsOf(read.row),
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
  if ('completion' in row) return { messages: asText(row.prompt + row.completion), chosen: null, rejected: null };
  if (typeof row.prompt === 'string') {
    const { prompt, chosen, rejected } = row as TextPair;
    return { messages: asText(prompt), chosen: asText(chosen), rejected: asText(rejected) };
  }
  const { prompt, chosen, rejected } = row as ConversationPair;
  return { messages: wire(prompt), chosen: wire(chosen), rejected: wire(rejected) };
}

const asText = (content: string) => [{ role: 'text', content }];

const toolsOf = (row: DatasetRow['row']) =>
  row !== null && 'tools' in row && row.tools ? row.tools.map((tool) => ({ ...tool })) : null;
