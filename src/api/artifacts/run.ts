// Runs: domain → wire. NaN and Infinity, which JSON lacks, are strings.
import { z } from 'zod';
import type { HistoryLine, Run } from '#domain/run';
import { readLoggedObject } from '#services/runs/run-json';
import { integer } from '#validation/lax';
import { orderField, pageFields } from '../http/listing.ts';

const values = z.record(z.string(), z.unknown());

export const runsQuery = z.looseObject({ ...pageFields, ...orderField, project: z.string().optional() });

export const runResponse = z
  .object({
    id: z.guid(),
    entity: z.string(),
    project: z.string(),
    run: z.string().meta({ description: 'Id of the run, as chosen by its client; unique within the project.' }),
    name: z.string().meta({ description: 'Display name.' }),
    group: z.string().nullable(),
    job_type: z.string().nullable(),
    notes: z.string().nullable(),
    tags: z.array(z.string()),
    state: z.enum(['running', 'finished', 'failed']).meta({
      description: '`running` until the client reports the end of the run; a client that was killed never does.',
    }),
    exit_code: z.int().nullable(),
    config: values,
    summary: values,
    history_lines: z.int(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: 'Run' });

export function toRunResponse(run: Run): z.input<typeof runResponse> {
  return {
    id: run.id,
    entity: run.entity,
    project: run.project,
    run: run.name,
    name: run.displayName,
    group: run.groupName,
    job_type: run.jobType,
    notes: run.notes,
    tags: [...run.tags],
    state: run.state,
    exit_code: run.exitCode,
    config: settings(readLoggedObject(run.config) ?? {}),
    summary: { ...readLoggedObject(run.summary) },
    history_lines: run.historyLines,
    created_at: new Date(run.createdAtMs).toISOString(),
    updated_at: new Date(run.updatedAtMs).toISOString(),
  };
}

/** `{key: {value}}`, as the library sends it, without the library's own entries. */
const settings = (config: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(config)
      .filter(([key]) => key !== '_wandb')
      .map(([key, setting]) => [
        key,
        typeof setting === 'object' && setting !== null && 'value' in setting ? setting.value : setting,
      ]),
  );

const HISTORY_LIMIT_MAX = 1_000;
export const HISTORY_LINES = 'application/jsonl';

export const runHistoryQuery = z.looseObject({
  after: integer({ ge: 0 }).optional().meta({ description: 'Number of the last line of the previous page.' }),
  limit: integer({ ge: 1, le: HISTORY_LIMIT_MAX }).default(100),
  format: z.enum(['json', 'jsonl']).default('json').meta({ description: 'jsonl: all lines after the cursor.' }),
});

export const historyLineResponse = z
  .object({
    id: z.string(),
    line: z.int(),
    values: values.meta({ description: 'As logged; `_step` and `_timestamp` are added by the library.' }),
  })
  .meta({ title: 'RunHistoryLine' });

export const toHistoryLine = ({ line, content }: HistoryLine): z.input<typeof historyLineResponse> => ({
  id: String(line),
  line,
  values: { ...readLoggedObject(content) },
});
