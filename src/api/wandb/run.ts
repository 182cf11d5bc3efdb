// A run as the library reads it: for resuming, and for `Api().run(...)`. JSON text contains NaN and Infinity as quoted strings, except
// text that the library itself wrote and reads again when it resumes.
import { AppError } from '#domain/errors';
import type { Run, RunName } from '#domain/run';
import { quoteBare } from '#services/runs/run-json';
import { time, type RequestContext } from './request-context.ts';
import { runHistoryFields } from './run-history.ts';
import { entityFields, projectNumber } from './names.ts';

/** The end of the history of a resumed run: its last line has the step to continue from. */
const TAIL_LINES = 1;
const RUNS_MAX = 50;

export const runField =
  (context: RequestContext, entity: string, project: string) =>
  async ({ name }: { name: string }) => {
    const run = await context.services.runs.find(context.caller, { entity, project, name });
    return run && runFields(context, run);
  };

export const runsField = (context: RequestContext, project: string) => ({
  async runs({ after, first, order, filters }: { after?: string; first?: number; order?: string; filters?: string }) {
    if (filters && filters !== '{}')
      throw new AppError('invalid_request', 'Filters of runs are not supported. Leave them out.', {
        param: 'filters',
      });
    const page = { after: after ?? null, limit: Math.min(Math.max(first ?? RUNS_MAX, 1), RUNS_MAX) };
    const direction = order === '+created_at' ? 'asc' : 'desc';
    const { rows, hasMore } = await context.services.runs.list(context.caller, { project }, page, direction);
    return {
      totalCount: null,
      edges: rows.map((run) => ({ node: runFields(context, run), cursor: run.id })),
      pageInfo: { __typename: 'PageInfo', endCursor: rows.at(-1)?.id ?? null, hasNextPage: hasMore },
    };
  },
  runCount: null,
});

export function runFields(context: RequestContext, run: Run) {
  const { entity, project, name } = run;
  const number = projectNumber(entity, project);
  return {
    __typename: 'Run',
    id: run.id,
    internalId: run.id,
    projectId: number,
    name,
    displayName: run.displayName,
    description: null,
    notes: run.notes,
    tags: run.tags,
    group: run.groupName,
    jobType: run.jobType,
    sweepName: null,
    state: run.state,
    commit: null,
    readOnly: false,
    config: () => quoteBare(run.config),
    summaryMetrics: () => quoteBare(run.summary),
    systemMetrics: '{}',
    wandbConfig: '{"t": 1}',
    createdAt: time(run.createdAtMs),
    updatedAt: time(run.updatedAtMs),
    heartbeatAt: time(run.updatedAtMs),
    user: { id: entity, name: entity, username: entity },
    project: { id: number, internalId: number, name: project, entityName: entity, entity: entityFields(entity) },
    logLineCount: 0,
    historyLineCount: run.historyLines,
    eventsLineCount: 0,
    historyTail: async () => {
      const from = Math.max(0, run.historyLines - TAIL_LINES);
      const lines = await context.services.runs.history(context.caller, run, from, TAIL_LINES);
      return JSON.stringify(lines.map(({ content }) => content));
    },
    eventsTail: '[]',
    ...runHistoryFields(context, run),
  };
}

export interface UpsertBucketInput {
  readonly name?: string | null;
  readonly modelName?: string | null;
  readonly entityName?: string | null;
  readonly groupName?: string | null;
  readonly displayName?: string | null;
  readonly notes?: string | null;
  readonly config?: string | null;
  readonly jobType?: string | null;
  readonly tags?: readonly string[] | null;
  readonly summaryMetrics?: string | null;
  readonly sweep?: string | null;
}

/** Null leaves a field unchanged: the library sends only changes. */
export async function upsertBucket(context: RequestContext, input: UpsertBucketInput) {
  const { name, modelName } = input;
  if (!name || !modelName)
    throw new AppError('invalid_request', 'A run needs a name and a project.', { param: 'name' });
  if (input.sweep) throw new AppError('invalid_request', 'Sweeps are not supported.', { param: 'sweep' });
  const of: RunName = { entity: input.entityName || context.caller.entity, project: modelName, name };
  const given = {
    displayName: input.displayName,
    groupName: input.groupName,
    notes: input.notes,
    config: input.config,
    jobType: input.jobType,
    tags: input.tags,
    summary: input.summaryMetrics,
  };
  const change = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== undefined));
  const { run, isNew } = await context.services.runs.upsert(context.caller, of, { ...change, state: 'running' });
  return { bucket: runFields(context, run), inserted: isNew };
}

/** Files that the library sends about itself at the end of a run: accepted and dropped, because files of runs are not stored. */
const DROPPED_FILES =
  /^(?:wandb-metadata\.json|requirements\.txt|output\.log|logs\/.*|wandb-summary\.json|wandb-history\.jsonl|wandb-events\.jsonl|config\.yaml|conda-environment\.yaml|diff(?:_\w+)?\.patch|code\/.*)$/;

export async function createRunFiles(
  context: RequestContext,
  input: { entityName: string; projectName: string; runName: string; files: readonly string[] },
) {
  const run = await context.services.runs.get(context.caller, {
    entity: input.entityName,
    project: input.projectName,
    name: input.runName,
  });
  const kept = input.files.find((file) => !DROPPED_FILES.test(file));
  if (kept !== undefined) {
    throw new AppError(
      'invalid_request',
      `Whetstone does not store files of runs, such as tables, images and other media, so ${kept.slice(0, 200)} is refused. Log an artifact instead.`,
      { param: 'files' },
    );
  }
  const url = await context.fileUrls();
  return {
    runID: run.id,
    uploadHeaders: [],
    files: input.files.map((name) => ({ name, uploadUrl: url(RUN_FILE) })),
  };
}

/** URL for uploads that are dropped. */
export const RUN_FILE = 'run-file';
