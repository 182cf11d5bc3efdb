// Ends a job if the training process keeps dying at the same row: it would die again, and each death costs all users minutes. Watches
// the engine for one job, over all its attempts. Deaths that somebody caused by killing the process do not count
// (docs/decisions/0014); deaths on another machine, whose cause is unknown, count a little less (docs/decisions/0024).
import { AppError } from '#domain/errors';
import { EngineLost } from '#engine/engine-lost';
import { TurnLost } from '../../trainer-turns.ts';
import { withCalls, type TrainingEngine, type TrainingRow, type TrainingSession } from '#engine/training-engine';

/** Deaths at one row that end its job. */
const DEATHS_MAX = 2;
/** On another machine: schedulers and networks end workers too, but hardly three times at the same row. */
const UNSEEN_DEATHS_MAX = 3;

interface Suspect {
  readonly row: TrainingRow;
  readonly deaths: number;
}

export function watchRowDeaths(engine: TrainingEngine): TrainingEngine {
  /** Rows that were being computed when the process ended, and not since. The next attempt may group them differently. */
  let suspects: readonly Suspect[] = [];

  async function watch<T>(rows: readonly TrainingRow[], compute: () => Promise<T>): Promise<T> {
    try {
      const result = await compute();
      suspects = suspects.filter((suspect) => !rows.some((row) => isSameRow(row, suspect.row)));
      return result;
    } catch (error) {
      if (!isDeath(error)) throw error;
      const deathsOf = (row: TrainingRow) => suspects.find((suspect) => isSameRow(row, suspect.row))?.deaths ?? 0;
      suspects = rows.map((row) => ({ row, deaths: deathsOf(row) + 1 }));
      const deathsMax = isUnseen(error) ? UNSEEN_DEATHS_MAX : DEATHS_MAX;
      const fatal = suspects.filter(({ deaths }) => deaths >= deathsMax);
      if (fatal.length > 0) throw fatalRows(fatal, error);
      throw error;
    }
  }

  const watchSession = (session: TrainingSession): TrainingSession =>
    withCalls(session, {
      logprobs: (rows) => watch(rows, () => session.logprobs(rows)),
      forwardBackward: (rows, loss) => watch(rows, () => session.forwardBackward(rows, loss)),
    });

  return {
    get limits() {
      return engine.limits;
    },
    open: async (...asked) => watchSession(await engine.open(...asked)),
    status: () => engine.status(),
    close: () => engine.close(),
  };
}

const isDeath = (error: unknown): error is AppError =>
  error instanceof AppError &&
  error.code === 'engine_unavailable' &&
  !(error instanceof TurnLost) &&
  !(error instanceof EngineLost && error.end.byOthers === true);

const isUnseen = (error: AppError): boolean => error instanceof EngineLost && error.end.byOthers === 'unknown';

/** `suspects`: rows of one call, at least one of which ended the process. */
function fatalRows(suspects: readonly Suspect[], error: AppError): AppError {
  const deaths = Math.max(...suspects.map((suspect) => suspect.deaths));
  const tokens = Math.max(...suspects.map(({ row }) => row.tokens.length));
  const which = suspects.length === 1 ? 'row, of' : `${suspects.length} rows, the longest of`;
  const how = error instanceof EngineLost ? `it ${error.end.how}` : error.message;
  return new AppError(
    'engine_failed',
    `The training process ended ${deaths === 2 ? 'twice' : `${deaths} times`} while it computed the same ${which} ${tokens} tokens (${how}). ` +
      'Send shorter rows: shorter rollouts, or a smaller packed_sequence_length. ' +
      'The operator can give the server more memory, or have it plan shorter rows with a smaller --training-memory ' +
      '(of a worker: --row-length-max).',
    { cause: error },
  );
}

/** Each attempt plans its rows again, so rows are compared by content. */
const isSameRow = (a: TrainingRow, b: TrainingRow): boolean =>
  isEqual(a.tokens, b.tokens) && isEqual(a.segments, b.segments) && isEqual(a.targets, b.targets);

const isEqual = (a: Int32Array, b: Int32Array): boolean => a.length === b.length && a.every((x, i) => x === b[i]);
