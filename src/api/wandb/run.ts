// A run as the library reads it: for resuming, and for `Api().run(...)`. JSON text contains NaN and Infinity as quoted strings, except
// text that the library itself wrote and reads again when it resumes.
import { AppError } from '#domain/errors';
import type { Run, RunName } from '#domain/run';
import { quoteBare, readLoggedObject, valueAt } from '#services/runs/run-json';
import { time, type RequestContext } from './request-context.ts';
import { runHistoryFields } from './run-history.ts';
import { directionOf, readRunFilters } from './list-arguments.ts';
import { entityFields, projectNumber, readRunNodeId, runNodeId } from './names.ts';

/** The end of the history of a resumed run: its last line has the step to continue from. */
const TAIL_LINES = 1;
const RUNS_MAX = 50;

export const runField =
  (context: RequestContext, entity: string, project: string) =>
  async ({ name }: { name: string }) => {
    const run = await context.services.runs.find(context.caller, { entity, project, name });
    return run && runFields(context, run);
  };

export function runsField(context: RequestContext, project: string) {
  const { caller, services } = context;
  const count = async ({ state }: ReturnType<typeof readRunFilters>) => {
    const byState = await services.runs.countByState(caller, { project });
    return state ? byState[state] : Object.values(byState).reduce((sum, runs) => sum + runs, 0);
  };
  return {
    async runs({ after, first, order, filters }: { after?: string; first?: number; order?: string; filters?: string }) {
      const filter = readRunFilters(filters);
      const page = { after: after ?? null, limit: Math.min(Math.max(first ?? RUNS_MAX, 1), RUNS_MAX) };
      const { rows, hasMore } = await services.runs.list(caller, { project, ...filter }, page, directionOf(order));
      return {
        totalCount: () => count(filter),
        edges: rows.map((run) => ({ node: runFields(context, run), cursor: run.id })),
        pageInfo: { __typename: 'PageInfo', endCursor: rows.at(-1)?.id ?? null, hasNextPage: hasMore },
      };
    },
    runCount: ({ filters }: { filters?: string }) => count(readRunFilters(filters)),
  };
}

export function runFields(context: RequestContext, run: Run) {
  const { entity, project, name } = run;
  const number = projectNumber(entity, project);
  return {
    __typename: 'Run',
    id: runNodeId(project, name),
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
  readonly id?: string | null;
  readonly name?: string | null;
  readonly modelName?: string | null;
  readonly entityName?: string | null;
  readonly groupName?: string | null;
  readonly displayName?: string | null;
  readonly description?: string | null;
  readonly notes?: string | null;
  readonly config?: string | null;
  readonly jobType?: string | null;
  readonly tags?: readonly string[] | null;
  readonly summaryMetrics?: string | null;
  readonly state?: string | null;
  readonly sweep?: string | null;
}

/** Null leaves a field unchanged: the library sends only changes. A script names its run, and a reader who changes one sends its id. */
export async function upsertBucket(context: RequestContext, input: UpsertBucketInput) {
  const { caller, services } = context;
  refuseUnknownRuns(context, input);
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
  if (!input.name && input.id) {
    const run = await services.runs.append(caller, runOfId(context, input.id), { offset: 0, lines: [], change });
    return { bucket: runFields(context, run), inserted: false };
  }
  if (!input.name || !input.modelName) throw refused('A run needs a name and a project.', 'name');
  const of: RunName = { entity: input.entityName || caller.entity, project: input.modelName, name: input.name };
  const { run, isNew } = await services.runs.upsert(caller, of, { ...change, state: 'running' });
  return { bucket: runFields(context, run), inserted: isNew };
}

/** What the library would do with a run that this server cannot. */
function refuseUnknownRuns(
  { isShared }: RequestContext,
  { sweep, description, state, config }: UpsertBucketInput,
): void {
  if (sweep) throw refused('Sweeps are not supported.', 'sweep');
  if (description) throw refused('Descriptions of runs are not stored. Use notes.', 'description');
  if (state && state !== 'running')
    throw refused(`A run cannot begin as ${state.slice(0, 100)}: it is running once it was made.`, 'state');
  if (isShared)
    throw refused(
      'Several processes cannot log to one run (mode="shared"): their lines would replace each other. Log from one, or give each a run of its own in one group.',
      'mode',
    );
  if (config && branchPointOf(config) !== undefined)
    throw refused(
      'A run cannot be forked (fork_from): this server would not have the lines before that step. Start a run of its own.',
      'fork_from',
    );
}

const branchPointOf = (config: string): unknown =>
  config.includes('"branch_point"') ? valueAt(readLoggedObject(config) ?? {}, '_wandb.value.branch_point') : undefined;

interface DeleteRunInput {
  readonly id: string;
  readonly deleteArtifacts?: boolean | null;
}

export async function deleteRun(context: RequestContext, { id, deleteArtifacts }: DeleteRunInput) {
  if (deleteArtifacts)
    throw refused('Artifacts are not deleted with a run. Delete them first, one by one.', 'deleteArtifacts');
  await context.services.runs.delete(context.caller, runOfId(context, id));
  return { clientMutationId: null };
}

function runOfId({ caller: { entity } }: RequestContext, id: string): RunName {
  const of = readRunNodeId(id);
  if (of) return { entity, ...of };
  throw new AppError('not_found', `No run has the id ${id.slice(0, 200)}.`);
}

const refused = (message: string, param: string) => new AppError('invalid_request', message, { param });

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
    throw refused(
      `Whetstone does not store files of runs, such as tables, images and other media, so ${kept.slice(0, 200)} is refused. Log an artifact instead.`,
      'files',
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
