// The history of a model: domain → JSON, JSON Lines, CSV, TensorBoard scalars.
import { z } from 'zod';
import { JOB_TYPES } from '#domain/training-job';
import type { HistoryStep } from '#services/jobs/reading-back/step-history';
import { pageFields } from '../http/listing.ts';
import { eventFile, type ScalarStep } from './tensorboard.ts';
import { isoOrNull } from '../http/time.ts';

export const HISTORY_TYPES = {
  jsonl: 'application/jsonl',
  csv: 'text/csv',
  tensorboard: 'application/octet-stream',
} as const;
export type HistoryFormat = keyof typeof HISTORY_TYPES;

export const historyQuery = z.looseObject({
  ...pageFields,
  format: z
    .enum(['json', 'jsonl', 'csv', 'tensorboard'])
    .optional()
    .describe(
      'jsonl, csv and tensorboard (an event file of the steps that have or create a checkpoint) return all steps after the cursor. Default: according to the Accept header, else json.',
    ),
});

/** Null: JSON, in pages. */
export function historyFormat(format: string | undefined, accept: string | undefined): HistoryFormat | null {
  const formats = Object.keys(HISTORY_TYPES) as HistoryFormat[];
  if (format !== undefined) return formats.find((each) => each === format) ?? null;
  return formats.find((each) => (accept ?? '').includes(HISTORY_TYPES[each])) ?? null;
}

const timestamp = z.iso.datetime().nullable();

export const historyResponse = z
  .object({
    id: z.string(),
    step: z.int().nullable().describe('Null: the job has not started.'),
    job_id: z.guid().nullable().describe('Null for step 0, which no job created.'),
    type: z.enum(JOB_TYPES).nullable(),
    status: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']).nullable(),
    training_start: timestamp,
    training_end: timestamp,
    seconds: z.number().nullable().describe('Seconds from the start to the end of training.'),
    num_gradient_steps: z.int().describe('Number of gradient steps (updates of the adapter).'),
    metrics: z
      .record(z.string(), z.number())
      .describe(
        'Means over the gradient steps; num_tokens, num_trained_tokens and tokens_saved_by_sharing are sums. Names with a slash are metrics of the checkpoint, while it exists.',
      ),
    skipped: z.record(z.string(), z.number()),
  })
  .meta({ title: 'HistoryStep' });

type Wire = z.input<typeof historyResponse>;

export const toHistoryResponse = ({ id, job, step, ...read }: HistoryStep): Wire => ({
  id,
  step,
  job_id: job?.id ?? null,
  type: job?.type ?? null,
  status: job?.status ?? null,
  training_start: isoOrNull(read.startedAtMs),
  training_end: isoOrNull(read.endedAtMs),
  seconds: read.startedAtMs === null || read.endedAtMs === null ? null : (read.endedAtMs - read.startedAtMs) / 1000,
  num_gradient_steps: read.gradientSteps,
  metrics: { ...read.metrics },
  skipped: { ...read.skipped },
});

export async function* historyLines(steps: AsyncIterable<HistoryStep>): AsyncGenerator<string> {
  for await (const step of steps) yield `${JSON.stringify(toHistoryResponse(step))}\n`;
}

const FIXED = [
  'step',
  'job_id',
  'type',
  'status',
  'training_start',
  'training_end',
  'seconds',
  'num_gradient_steps',
] as const satisfies readonly (keyof Wire)[];

/** One column per metric that any step has, and one per skip reason: known only after all steps are read. */
export async function* historyTable(steps: AsyncIterable<HistoryStep>): AsyncGenerator<string> {
  const rows: Wire[] = [];
  for await (const step of steps) rows.push(toHistoryResponse(step));
  const namesOf = (part: 'metrics' | 'skipped') => [...new Set(rows.flatMap((row) => Object.keys(row[part])))].sort();
  const [metrics, skipped] = [namesOf('metrics'), namesOf('skipped')];
  yield csvLine([...FIXED, ...metrics, ...skipped.map((name) => `skipped/${name}`)]);
  for (const row of rows) {
    yield csvLine([
      ...FIXED.map((name) => row[name]),
      ...metrics.map((name) => row.metrics[name]),
      ...skipped.map((name) => row.skipped[name]),
    ]);
  }
}

/**
 * Every metric of every step that has a checkpoint or is about to; a failed step is repeated. Step 0 has the time of the first known
 * step, because no job created it.
 */
export async function* historyScalars(steps: AsyncIterable<HistoryStep>): AsyncGenerator<Uint8Array> {
  const rows: HistoryStep[] = [];
  for await (const step of steps) if (!step.job || ['running', 'succeeded'].includes(step.job.status)) rows.push(step);
  let timeMs = rows.map(timeOf).find((time) => time !== null) ?? 0;
  const scalars = rows.flatMap((row): ScalarStep[] => {
    timeMs = timeOf(row) ?? timeMs;
    return row.step === null ? [] : [{ timeMs, step: row.step, scalars: scalarsOf(row) }];
  });
  yield* eventFile(scalars);
}

const timeOf = ({ endedAtMs, startedAtMs }: HistoryStep): number | null => endedAtMs ?? startedAtMs;

function scalarsOf(row: HistoryStep): Record<string, number> {
  const { metrics, skipped, seconds, num_gradient_steps } = toHistoryResponse(row);
  const left = Object.entries(skipped).map(([reason, count]) => [`skipped/${reason}`, count] as const);
  return { ...metrics, ...Object.fromEntries(left), num_gradient_steps, ...(seconds === null ? {} : { seconds }) };
}

type Cell = string | number | null | undefined;

const csvLine = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** RFC 4180. Text that a spreadsheet would interpret as a formula is escaped, because clients choose metric names. */
function csvCell(value: Cell): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = value.replace(/^[=+\-@\t\r]/, "'$&");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
