// Runs of an entity: created and changed by name, with a history that is appended line by line and can be read by every key of the
// entity. Scripts decide what a line means; this file checks that it is a JSON object, its length, and the number of lines.
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Listing, Order, Page } from '#domain/page';
import type { ArtifactUse, HistoryLine, Run, RunAbout, RunName, RunProject, RunState } from '#domain/run';
import { createShapeBudget, ShapeError, type Shape, type ShapeBudget } from '#base/json-shape';
import { isPlainName } from '#base/unseen-characters';
import { createYielder } from '#base/yield-to-loop';
import type { RunFilter } from '#storage/run-store';
import type { Storage } from '#storage/storage';
import type { AccountLimits } from '../accounts/account-limits.ts';
import { tooMuch } from '../accounts/stored-bytes.ts';
import { fitLine } from './fitted-line.ts';
import { createCurveSampler, type Curve } from './run-curves.ts';
import { readLoggedObject } from './run-json.ts';

export interface RunPiece {
  readonly offset: number;
  readonly lines: readonly string[];
  readonly change: Partial<RunAbout>;
}

export interface Runs {
  /** Throws `not_found` for another entity, `invalid_request` for invalid names and values, `too_many_requests`. */
  upsert(caller: Caller, name: RunName, change: Partial<RunAbout>): Promise<{ run: Run; isNew: boolean }>;
  /** Idempotent, because lines have numbers. Throws as `upsert`, which must have created the run. */
  append(caller: Caller, name: RunName, piece: RunPiece): Promise<Run>;
  /** Returns null if there is none, or it belongs to another entity. */
  find(caller: Caller, name: RunName): Promise<Run | null>;
  /** Throws `not_found`, as the next two do. */
  get(caller: Caller, name: RunName): Promise<Run>;
  history(caller: Caller, name: RunName, from: number, limit: number): Promise<readonly HistoryLine[]>;
  delete(caller: Caller, name: RunName): Promise<void>;
  /** Records an artifact's use if the run exists. The caller checks who owns the artifact. */
  noteArtifact(caller: Caller, name: RunName, artifactId: string, how: ArtifactUse): Promise<void>;
  /** Ids, including those of deleted artifacts. */
  artifactsOf(caller: Caller, name: RunName, how: ArtifactUse): Promise<readonly string[]>;
  runsOf(caller: Caller, artifactId: string, how: ArtifactUse): Promise<readonly Run[]>;
  list(caller: Caller, filter: OwnRuns, page: Page, order?: Order): Promise<Listing<Run>>;
  /** Of all runs that the filter finds, whatever state it names. */
  countByState(caller: Caller, filter: OwnRuns): Promise<Readonly<Record<RunState, number>>>;
  listProjects(caller: Caller, page: Page): Promise<Listing<RunProject>>;
  /** Reads a bounded part of the history. Throws `not_found`. */
  curves(caller: Caller, name: RunName, pointsMax: number): Promise<RunCurves>;
}

export type OwnRuns = Omit<RunFilter, 'entity'>;

export interface RunCurves extends Pick<Run, 'historyLines'> {
  readonly curves: ReadonlyMap<string, Curve>;
  /** Names that are too many to have a curve. */
  readonly leftOut: number;
}

export interface RunsDeps {
  readonly storage: Storage;
  readonly limits: Pick<AccountLimits, 'storing'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** As the library restricts names; a slash would change the path. */
const NAME = /^[^/\\#?%:]{1,128}$/;
const TEXT_MAX = 10_000;
const TAGS_MAX = 100;
/** Maximum size of a configuration or summary, which is read whole at every resume. */
const DOCUMENT_CHARACTERS_MAX = 1_000_000;
/** Maximum length of one line. Scripts log numbers; anything longer is a table or a text that belongs into an artifact. */
const LINE_CHARACTERS_MAX = 100_000;
/** A line of up to this length loses its longest values; a longer one would hold up other requests, and is refused. */
const LINE_READ_MAX = 500_000;
/** One step per second for two weeks; a page of the history is found by number, so its cost does not grow. */
const LINES_MAX = 1_000_000;

/** Read for curves: of a longer history, only every second line, every third, and so on. */
const CURVE_LINES_MAX = 50_000;
const CURVE_BYTES_MAX = 64_000_000;
const CURVE_PAGE_LINES = 1_000;

/** How many are shown for one artifact or run. */
const LINKS_MAX = 1_000;

export function createRuns({ storage, limits, clock, log }: RunsDeps): Runs {
  const { runs } = storage;
  const notFound = ({ entity, project, name }: RunName) =>
    new AppError('not_found', `No run ${entity}/${project}/${name}. List yours with GET /v1/runs.`);

  function checkName(caller: Caller, name: RunName): void {
    if (name.entity !== caller.entity) throw notFound(name);
    const isName = (text: string) => NAME.test(text) && isPlainName(text);
    if (isName(name.project) && isName(name.name)) return;
    throw refused(
      'The names of a project and a run must have 1 to 128 characters without / \\ # ? % :, control characters and characters that change the direction of writing, and not be . or ..',
      'name',
    );
  }

  const find: Runs['find'] = async (caller, name) => (name.entity === caller.entity ? runs.find(name) : null);

  const get: Runs['get'] = async (caller, name) => {
    const run = await find(caller, name);
    if (run) return run;
    throw notFound(name);
  };

  return {
    async upsert(caller, name, change) {
      checkName(caller, name);
      await checkLogged(0, [], change);
      return limits.storing(caller, async ({ payer }) => {
        const made = await runs.upsert({ id: createId(), ...name }, change, payer, clock.now());
        if (made.outcome === 'over_limit') throw tooMuch('The run is over the limit of stored bytes');
        const isNew = made.outcome === 'created';
        if (isNew) log.info('run.created', { runId: made.run.id, project: name.project, name: name.name });
        return { run: made.run, isNew };
      });
    },

    async append(caller, name, { offset, lines, change }) {
      const { id } = await get(caller, name);
      const fitting = await checkLogged(offset, lines, change);
      return limits.storing(caller, async ({ payer }) => {
        const run = await runs.append(id, { offset, lines: fitting }, change, payer, clock.now());
        if (run === 'over_limit') throw tooMuch('The history of this run is over the limit of stored bytes');
        if (!run) throw notFound(name);
        if (change.state !== undefined) log.info('run.ended', { runId: id, state: change.state });
        return run;
      });
    },

    find,
    get,
    history: async (caller, name, from, limit) => runs.history((await get(caller, name)).id, from, limit),

    async delete(caller, name) {
      const { id } = await get(caller, name);
      await runs.delete(id);
      log.info('run.deleted', { runId: id });
    },

    async noteArtifact(caller, name, artifactId, how) {
      const run = await find(caller, name);
      if (run) await runs.noteArtifact(run.id, artifactId, how);
    },
    artifactsOf: async (caller, name, how) => runs.artifactsOf((await get(caller, name)).id, how, LINKS_MAX),
    async runsOf(caller, artifactId, how) {
      const all = await runs.runsOf(artifactId, how, LINKS_MAX);
      return all.filter(({ entity }) => entity === caller.entity);
    },

    list: (caller, filter, page, order) => runs.list({ ...filter, entity: caller.entity }, page, order),
    countByState: async (caller, filter) => ({
      ...NONE_OF_EACH,
      ...(await runs.countByState({ ...filter, entity: caller.entity })),
    }),
    listProjects: ({ entity }, page) => runs.listProjects(entity, page),

    async curves(caller, name, pointsMax) {
      const { id, historyLines, historyBytes } = await get(caller, name);
      const stride = Math.max(1, Math.ceil(historyLines / CURVE_LINES_MAX), Math.ceil(historyBytes / CURVE_BYTES_MAX));
      const sampler = createCurveSampler(pointsMax, historyLines);
      const yieldToLoop = createYielder();
      for (let next = 0; next < historyLines;) {
        const lines = await runs.history(id, next, CURVE_PAGE_LINES, stride);
        if (lines.length === 0) break;
        for (const { line, content } of lines) {
          sampler.add(line, content);
          await yieldToLoop();
        }
        next = lines.at(-1)!.line + 1;
      }
      return { historyLines, curves: sampler.curves(), leftOut: sampler.leftOut() };
    },
  };
}

const NONE_OF_EACH: Readonly<Record<RunState, number>> = { running: 0, finished: 0, failed: 0 };

const refused = (what: string, param: string): AppError => new AppError('invalid_request', `${what}.`, { param });

/** Of all lines and documents in one request: they arrive as texts, which the bounds of its body do not open. A line has hundreds of values. */
const LOGGED_SHAPE: Shape = { valuesMax: 1_500_000, keysMax: 50_000 };

/** Returns the lines as they are stored. Other requests are served between two lines. */
async function checkLogged(
  offset: number,
  lines: readonly string[],
  change: Partial<RunAbout>,
): Promise<readonly string[]> {
  const budget = createShapeBudget(LOGGED_SHAPE);
  try {
    checkAbout(change, budget);
    return await checkLines(offset, lines, budget);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    const most = error.of === 'keys' ? `${budget.keysMax} different keys` : `${budget.valuesMax} values`;
    throw refused(
      `What one request logs of a run has more than ${most}. Log less at once, and put tables into an artifact`,
      lines.length > 0 ? 'content' : 'config',
    );
  }
}

function checkAbout({ config, summary, tags, ...texts }: Partial<RunAbout>, budget: ShapeBudget): void {
  for (const [field, text] of Object.entries(texts)) {
    if (typeof text === 'string' && text.length > TEXT_MAX)
      throw refused(`${field} of a run has at most ${TEXT_MAX} characters`, field);
  }
  if (tags !== undefined && (tags.length > TAGS_MAX || tags.some(({ length }) => length > NAMES_MAX)))
    throw refused(`A run has at most ${TAGS_MAX} tags of ${NAMES_MAX} characters`, 'tags');
  for (const [field, text] of Object.entries({ config, summary })) {
    if (text === undefined) continue;
    if (text.length > DOCUMENT_CHARACTERS_MAX)
      throw refused(`${field} of a run has at most ${DOCUMENT_CHARACTERS_MAX} characters of JSON`, field);
    if (!readLoggedObject(text, budget)) throw refused(`${field} of a run must be a JSON object`, field);
  }
}

const NAMES_MAX = 128;

async function checkLines(offset: number, lines: readonly string[], budget: ShapeBudget): Promise<readonly string[]> {
  if (!Number.isSafeInteger(offset) || offset < 0) throw refused('offset must be the number of a line', 'offset');
  if (offset + lines.length > LINES_MAX) throw refused(`A run has at most ${LINES_MAX} lines of history`, 'content');
  const yieldToLoop = createYielder();
  const fitting: string[] = [];
  for (const [at, line] of lines.entries()) {
    await yieldToLoop();
    fitting.push(checkLine(offset + at, line, budget));
  }
  return fitting;
}

function checkLine(number: number, line: string, budget: ShapeBudget): string {
  const row = line.length <= LINE_READ_MAX ? readLoggedObject(line, budget) : undefined;
  if (row === null) throw refused(`Line ${number} of the history is not a JSON object`, 'content');
  if (row && line.length <= LINE_CHARACTERS_MAX) return line;
  const fitting = row ? fitLine(row, LINE_CHARACTERS_MAX) : null;
  if (fitting !== null) return fitting;
  throw refused(
    `Line ${number} of the history has ${line.length} characters, more than ${LINE_CHARACTERS_MAX}. Put tables and long texts into an artifact`,
    'content',
  );
}
