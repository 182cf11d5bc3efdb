// TrainingEngine over all workers that train one model. A session stays on its worker: if the worker is gone, the session's calls fail
// with `engine_unavailable`, and the job opens a new session on any free worker and replays. Checks what workers answer.
import { counted } from '#base/counted';
import { createChanges } from '#base/changes';
import { AppError } from '#domain/errors';
import type { TrainerCapabilities } from '../capabilities.ts';
import {
  limitsOfBoth,
  type ForwardBackwardResult,
  type TrainingEngine,
  type TrainingLimits,
  type TrainingRow,
  type TrainingSession,
} from '../training-engine.ts';
import { CallTimeout } from '../rpc/rpc-client.ts';
import type { ConnectedWorker } from './connected-worker.ts';
import type { WorkerModel } from './handshake.ts';
import type { OfferedFiles } from './offered-files.ts';
import { sharedByTrainers } from './shared-capabilities.ts';
import type { UploadedFiles } from './uploaded-files.ts';
import { fromWireResults, splitIntoCalls, toWireRows, type WireRows } from './wire-rows.ts';
import type { WorkerProcedures } from './worker-procedures.ts';
import type { WorkerRegistry } from './worker-registry.ts';

/** How long a session waits for a worker to return or to be replaced; after that, the caller retries. */
const FREE_TIMEOUT_MS = 60_000;
/** Time to transfer a gigabyte over a slow connection. */
const SAVE_TIMEOUT_MS = 1_200_000;

/** How long a worker may take to answer; docs/worker-protocol.md names both. */
export interface TrainerLimits {
  /** The base weights are already loaded; an adapter may have to be downloaded first. */
  readonly openMs: number;
  /** Forward and backward pass of one call, with compilation for the length of its rows. A worker that makes progress needs less. */
  readonly rowMs: number;
}

export const DEFAULT_TRAINER_LIMITS: TrainerLimits = { openMs: 600_000, rowMs: 1_200_000 };

export interface TrainerPoolDeps {
  readonly model: WorkerModel;
  readonly registry: WorkerRegistry;
  readonly offered: OfferedFiles;
  readonly uploaded: UploadedFiles;
  readonly limits?: TrainerLimits;
}

export interface TrainerPool extends TrainingEngine {
  /** The capabilities that all connected trainers share, or the last connected ones if there are none. */
  readonly capabilities: TrainerCapabilities;
}

export function createTrainerPool(deps: TrainerPoolDeps): TrainerPool {
  const { model, registry, offered, limits: timeLimits = DEFAULT_TRAINER_LIMITS } = deps;
  const trainers = () => registry.of(model.id).filter(({ hello }) => hello.roles.includes('train'));
  const usable = () => trainers().filter(({ state }) => state === 'connected');
  const isFree = ({ counts }: ConnectedWorker) => counts.sessions === 0;
  let isClosed = false;
  const changes = createChanges();
  /** The limits of the connected trainers, or of the last connected ones. */
  let limits = unknownLimits(model);
  let capabilities = sharedByTrainers([]);
  function look(): void {
    const declared = trainers().map(({ hello }) => hello.trainer!);
    if (declared.length > 0) {
      limits = declared.map((each) => each.limits).reduce(limitsOfBoth);
      capabilities = sharedByTrainers(declared.map((each) => each.capabilities));
    }
    changes.changed();
  }
  look();
  registry.onChange(look);

  /** Returns a connected worker without a session; waits for one. */
  async function takeFree(signal: AbortSignal): Promise<ConnectedWorker> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(FREE_TIMEOUT_MS)]);
    for (;;) {
      const free = usable().find(isFree);
      if (isClosed) throw unavailable(`The server is stopping and has released the trainers of ${model.id}.`);
      if (free) return free;
      if (signal.aborted) throw cancelled(signal);
      if (until.aborted || usable().length > 0) throw nobodyFree();
      await changes.next(until);
    }
  }

  function nobodyFree(): AppError {
    return unavailable(
      usable().length > 0
        ? `All workers that train ${model.id} (${usable().length}) are busy with other sessions.`
        : `No worker that trains ${model.id} has been connected for ${FREE_TIMEOUT_MS} ms. Start one: \`whetstone-worker run --model ${model.id} --roles train\`.`,
    );
  }

  return {
    get limits() {
      return limits;
    },
    get capabilities() {
      return capabilities;
    },
    async open({ from, ...options }, signal) {
      if (signal.aborted) throw cancelled(signal);
      const worker = await takeFree(signal);
      const leave = occupy(worker);
      try {
        const files = from === null ? null : await offered.directory(from);
        const opened = await callInTime(worker, 'open', { ...options, from: files }, timeLimits.openMs);
        const session = createSession(worker, opened, deps.uploaded, timeLimits.rowMs, leave);
        if (!signal.aborted) return session;
        await session.close();
        throw cancelled(signal);
      } catch (error) {
        leave();
        throw error;
      }
    },
    status: () => ({
      ready: usable().length > 0 && !isClosed,
      busy: !usable().some(isFree),
      sessionsMax: trainers().filter((worker) => worker.state === 'connected' || !isFree(worker)).length,
      restarts: registry.ends(model.id).count,
      lastFailure: registry.ends(model.id).last ?? (usable().length > 0 ? null : 'no worker that trains is connected'),
    }),
    async close() {
      isClosed = true;
      changes.changed();
    },
  };
}

/** Marks the worker as occupied until the returned function is called. */
function occupy({ counts }: ConnectedWorker): () => void {
  let isOver = false;
  counts.sessions++;
  return () => {
    if (!isOver) counts.sessions--;
    isOver = true;
  };
}

/** A worker that does not answer is let go: the next session would wait for it, too. It may connect again. */
async function callInTime<M extends keyof WorkerProcedures>(
  worker: ConnectedWorker,
  method: M,
  params: WorkerProcedures[M]['params'],
  timeoutMs: number,
): Promise<WorkerProcedures[M]['result']> {
  try {
    return await worker.rpc.call(method, params, { timeoutMs }).result;
  } catch (error) {
    if (error instanceof CallTimeout) worker.end(`did not answer ${method} within ${timeoutMs / 1000} s`);
    throw error;
  }
}

function createSession(
  worker: ConnectedWorker,
  session: number,
  uploaded: UploadedFiles,
  rowMs: number,
  onClose: () => void,
): TrainingSession {
  const { hello } = worker;
  const { name } = hello.worker;
  const { rowsAtOnce } = hello.trainer!;
  const wrong = (what: string) => new AppError('engine_failed', `The worker ${name} sent ${what}.`);
  let closed = false;
  /** The worker may have connected after the job's rows were packed; they are packed again when the job retries. */
  function checkRow({ parents }: TrainingRow): void {
    if (hello.trainer!.capabilities.sharedPrefixRows || parents.every((parent) => parent === -1)) return;
    throw unavailable(`The worker ${name} does not support rows in which sequences share a prefix.`);
  }
  async function ask<T>(
    rows: readonly TrainingRow[],
    call: (asked: WireRows) => Promise<unknown>,
    read: (answer: unknown, row: TrainingRow) => T,
  ): Promise<T[]> {
    rows.forEach(checkRow);
    const results: T[] = [];
    for (const together of splitIntoCalls(rows, rowsAtOnce)) {
      const answers = fromWireResults(together, await call(toWireRows(together)));
      if (!answers) throw wrong(`something other than the results of ${counted(together.length, 'row')}`);
      results.push(...answers.map((answer, i) => read(answer, together[i]!)));
    }
    return results;
  }
  function readLogprobs(answer: unknown, { targets }: TrainingRow): Float32Array {
    if (answer instanceof Float32Array && answer.length === targets.length) return answer;
    throw wrong(`something other than ${targets.length} log-probabilities`);
  }
  function readResult(answer: unknown, row: TrainingRow): ForwardBackwardResult {
    const result = answer as ForwardBackwardResult | null;
    const numbers = [result?.loss, ...Object.values(result?.metrics ?? {})];
    if (!numbers.every((value) => typeof value === 'number')) throw wrong('a loss or metrics that are not numbers');
    if (result!.logprobs) readLogprobs(result!.logprobs, row);
    return result!;
  }
  return {
    rowsAtOnce,
    logprobs: (rows) =>
      ask(rows, (asked) => callInTime(worker, 'logprobs', { session, ...asked }, rowMs), readLogprobs),
    forwardBackward: (rows, loss) =>
      ask(rows, (asked) => callInTime(worker, 'forwardBackward', { session, loss, ...asked }, rowMs), readResult),
    async optimStep(params) {
      const result = await callInTime(worker, 'optimStep', { session, params }, rowMs);
      if (typeof result?.gradNorm !== 'number') throw wrong('a gradient norm that is not a number');
      return result;
    },
    async save(directory, options) {
      await uploaded.receive(async () => {
        const files = await callInTime(worker, 'save', { session, options }, SAVE_TIMEOUT_MS);
        const isList: boolean = Array.isArray(files) && files.length > 0;
        if (!isList) throw wrong('no list of the files that it saved');
        return files;
      }, directory);
    },
    async close() {
      if (closed) return;
      closed = true;
      try {
        await callInTime(worker, 'closeSession', { session }, rowMs);
      } catch (error) {
        // The session ended with its worker.
        if (!(error instanceof AppError && error.code === 'engine_unavailable')) throw error;
      } finally {
        onClose();
      }
    },
  };
}

/** Used until a trainer has reported its limits. */
const unknownLimits = ({ contextLength }: WorkerModel): TrainingLimits => ({
  contextLength,
  rowLengthMax: contextLength,
  memory: { budgetBytes: 0, fixedBytes: 0, bytesPerToken: 0, bytesPerPair: 0 },
});

const unavailable = (message: string): AppError =>
  new AppError('engine_unavailable', `${message} Try again.`, { retryAfterSeconds: 5 });

const cancelled = (signal: AbortSignal): AppError =>
  new AppError('cancelled', 'The session was cancelled.', { cause: signal.reason });
