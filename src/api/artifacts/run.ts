// Runs: domain → wire. NaN and Infinity, which JSON lacks, are strings.
import { z } from 'zod';
import type { HistoryLine, Run, RunProject } from '#domain/run';
import { readLoggedObject } from '#services/runs/run-json';
import { integer } from '#validation/lax';
import { envelope, orderField, pageFields } from '../http/listing.ts';

const values = z.record(z.string(), z.unknown());

const STATES = ['running', 'finished', 'failed'] as const;

export const runsQuery = z.looseObject({
  ...pageFields,
  ...orderField,
  entity: z.string().optional().describe('Your own team, or omitted. Returns 404 for another team.'),
  project: z.string().optional(),
  state: z.enum(STATES).optional().describe('Return only runs with this state.'),
  search: z
    .string()
    .optional()
    .describe(
      'Text that the id, the display name, the group or a tag contains. The letters A to Z match in either case.',
    ),
});

export const runResponse = z
  .object({
    id: z.guid(),
    entity: z.string(),
    project: z.string(),
    run: z.string().describe('Id of the run, as chosen by its client; unique within the project.'),
    name: z.string().describe('Display name.'),
    group: z.string().nullable(),
    job_type: z.string().nullable().describe('Type of job, as set by the client.'),
    notes: z.string().nullable().describe('Notes set by the client.'),
    tags: z.array(z.string()),
    state: z
      .enum(STATES)
      .describe('`running` until the client reports the end of the run; a client that was killed never does.'),
    exit_code: z.int().nullable().describe('Exit code of the process; null if it has not ended.'),
    config: values,
    summary: values,
    history_lines: z.int(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: 'Run' });

const runCount = z.int().describe('Number of runs with this state.');

export const runList = envelope(runResponse)
  .extend({
    counts: z
      .object({ running: runCount, finished: runCount, failed: runCount })
      .describe('Of all runs that the other filters find, by state: of every page, and whatever `state` asks for.'),
  })
  .meta({ title: 'RunList' });

export const runProjectResponse = z
  .object({
    id: z.string().describe('The project, as the cursor of this list.'),
    object: z.literal('run_project'),
    project: z.string(),
    runs: z.int().describe('Number of runs.'),
    running: z.int().describe('Number of runs that have not ended.'),
    updated_at: z.iso.datetime().describe('When a run of the project was changed last.'),
  })
  .meta({ title: 'RunProject' });

export const toRunProjectResponse = ({ project, runs, running, updatedAtMs }: RunProject) => ({
  id: project,
  object: 'run_project' as const,
  project,
  runs,
  running,
  updated_at: new Date(updatedAtMs).toISOString(),
});

const POINTS_MAX = 1_000;

export const runCurvesQuery = z.looseObject({
  points: integer({ ge: 1, le: POINTS_MAX })
    .default(500)
    .describe('Maximum number of points of a curve. Consecutive lines share a point, which has the last.'),
});

export const runCurvesResponse = z
  .object({
    object: z.literal('run_curves'),
    history_lines: z.int(),
    curves: z
      .record(
        z.string(),
        z.object({
          steps: z.array(z.number()).describe('`_step` of the line, or its number.'),
          values: z.array(z.number()).describe('As many as `steps`.'),
        }),
      )
      .describe('By name. Numbers inside objects are named `outer.inner`.'),
    left_out: z.int().describe('Number of names without a curve, because the run logs too many names.'),
  })
  .meta({ title: 'RunCurves' });

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
  after: integer({ ge: 0 }).optional().describe('Number of the last line of the previous page.'),
  limit: integer({ ge: 1, le: HISTORY_LIMIT_MAX }).default(100),
  format: z.enum(['json', 'jsonl']).default('json').describe('jsonl: all lines after the cursor.'),
});

export const historyLineResponse = z
  .object({
    id: z.string(),
    line: z.int(),
    values: values.describe('As logged; `_step` and `_timestamp` are added by the library.'),
  })
  .meta({ title: 'RunHistoryLine' });

export const toHistoryLine = ({ line, content }: HistoryLine): z.input<typeof historyLineResponse> => ({
  id: String(line),
  line,
  values: { ...readLoggedObject(content) },
});
