// Executes one claimed run, from its first queued operation until nothing more comes. An operation is
// done when its row says so; until then it is repeated after a crash, afterwards its effect follows from the log. The state is saved
// from time to time, so that the log to replay stays short.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import { tinkerRequestBlob, tinkerStateBlob } from '#domain/blob-names';
import { AppError, publicError, type ErrorCode } from '#domain/errors';
import type { TinkerOperation, TinkerRun } from '#domain/tinker';
import type { WaitingFor } from '#domain/training-job';
import type { OptimizerParams } from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { OperationEnd } from '#storage/tinker-store';
import { getCheckpointFiles } from '../models/checkpoint-files.ts';
import { createDelayedWaits, isSameWait } from '../delayed-waits.ts';
import type { JobEvents } from '../jobs/job-events.ts';
import { forgetOldOperations } from './forget-operations.ts';
import type { LoadBody, SaveBody } from './operation-bodies.ts';
import { storeResult } from './operation-results.ts';
import { addsGradients, beginsAgain, neededFrom, planReplay } from './replay.ts';
import { openRunSession, type RunSession, type RunStart, type RunTrainer } from './run-session.ts';
import type { Saves } from './saves.ts';

export interface ExecutionDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly runEvents: JobEvents;
  readonly saves: Saves;
  readonly clock: Clock;
  readonly log: Log;
  readonly workDirectory: string;
  readonly saveEveryMs: number;
}

/** A run without operations for this long leaves the trainer's memory. */
const IDLE_MS = 20_000;
const POLL_MS = 1_000;
/** Maximum losses of the trainer at one operation. */
const LOSSES_MAX = 5;
const OPERATIONS_PAGE = 1_000;
/** Operations after the saved state, with which the log is long: the state is saved at once, and what is not needed is dropped. */
const LONG = 1_024;
const LOOKED_THROUGH_EVERY = 256;

/** Errors that a client can fix. */
const OF_CLIENTS: readonly ErrorCode[] = [
  'invalid_request',
  'row_too_long',
  'checkpoint_not_found',
  'model_conflict',
  'too_many_requests',
  'not_found',
  'engine_failed', // values that are not finite: a smaller learning rate helps
];

export async function executeRun(
  claimed: TinkerRun,
  trainer: RunTrainer,
  deps: ExecutionDeps & { readonly gapMs: number },
  signal: AbortSignal,
): Promise<void> {
  const { storage, blobs, runEvents, clock, log, saveEveryMs, gapMs } = deps;
  let { doneSeq, stateSeq, stateBlob } = claimed;
  let session: RunSession | null = null;
  let { lostSeq } = planReplay(await finishedOperations());
  let lookedThrough = stateSeq;
  /** The last update that the session includes. */
  let updatedSeq = stateSeq;
  let savedMs = clock.now();
  let losses = { seq: 0, count: 0 };
  let noted: WaitingFor | null = null;
  const waits = createDelayedWaits(
    { kind: 'training_client', id: claimed.id, entity: claimed.entity },
    async (now) => {
      if (isSameWait(noted, now)) return;
      await storage.tinker.noteWaiting(claimed, now);
      noted = now;
    },
    (err) => log.warn('tinker_run.wait_not_noted', { err }),
  );

  try {
    while (!signal.aborted) {
      const operation = await nextOperation();
      if (!operation) return;
      const end = await tryOperation(operation);
      if (!end) continue; // the trainer was lost: try again
      if (!(await storage.tinker.finishOperation(claimed, operation.seq, end))) return;
      doneSeq = operation.seq;
      if (doneSeq - stateSeq >= LONG) await shortenLog(operation); // first: requests are refused for its length
      runEvents.notify(claimed.id);
      log.debug('tinker_run.operation', { seq: operation.seq, kind: operation.kind, error: end.error });
      if (updatedSeq > stateSeq && clock.now() - savedMs >= saveEveryMs) await saveState();
    }
  } finally {
    waits.end();
    await leave();
  }

  function finishedOperations(): Promise<readonly TinkerOperation[]> {
    return listAll(storage, claimed.id, stateSeq).then((all) => all.filter(({ seq }) => seq <= doneSeq));
  }

  /** Null: nothing came in time. */
  async function nextOperation(): Promise<TinkerOperation | null> {
    const idleSince = clock.now();
    for (;;) {
      const [next, after] = await storage.tinker.listOperations(claimed.id, doneSeq, 2);
      // One that was refused when it arrived may be sent again until another one follows it.
      const waiting = next?.status === 'queued' ? next : after;
      if (next?.seq === doneSeq + 1 && waiting) return next;
      if (next && waiting && clock.now() - waiting.createdAtMs >= gapMs) return next; // fails below: its predecessors never came
      if (signal.aborted || clock.now() - idleSince >= IDLE_MS) return null;
      await runEvents.wait(claimed.id, POLL_MS, signal);
    }
  }

  /** Null: it has to be tried again. */
  async function tryOperation(operation: TinkerOperation): Promise<OperationEnd | null> {
    if (operation.seq !== doneSeq + 1) {
      const missing = `Requests ${doneSeq + 1} to ${operation.seq - 1} of this training client did not arrive within ${gapMs / 1000} s.`;
      await lose(operation);
      return failed(new AppError('internal', missing), missing);
    }
    if (operation.status === 'failed') {
      await lose(operation);
      return { result: null, error: operation.error, category: operation.category };
    }
    try {
      return { result: await execute(operation), error: null, category: null };
    } catch (error) {
      if (signal.aborted) throw error;
      const isLost = error instanceof AppError && error.code === 'engine_unavailable';
      if (isLost || operation.kind === 'optim_step') await drop(); // the next session starts from the log
      if (isLost) {
        losses = { seq: operation.seq, count: losses.seq === operation.seq ? losses.count + 1 : 1 };
        waits.waitsFor({ kind: 'trainer', id: null });
        log.warn('tinker_run.trainer_lost', { seq: operation.seq, losses: losses.count, err: error });
        await runEvents.wait(claimed.id, POLL_MS, signal);
        if (losses.count < LOSSES_MAX) return null;
      }
      if (publicError(error).code === 'internal')
        log.error('tinker_run.operation_failed', { seq: operation.seq, err: error });
      if (isStorageFault(error)) throw error; // the log is unchanged: retried later
      await lose(operation);
      return failed(error);
    }
  }

  /** A part of a step failed: the gradients of its other parts are discarded. */
  async function lose(operation: TinkerOperation): Promise<void> {
    if (!addsGradients(operation)) return;
    if (lostSeq === null || beginsAgain(operation, lostSeq)) lostSeq = operation.seq;
    await drop();
  }

  async function execute(operation: TinkerOperation): Promise<string> {
    const { seq, kind, body } = operation;
    if (kind === 'forward_backward') {
      const adds = addsGradients(operation);
      const isLost = adds && lostSeq !== null && !beginsAgain(operation, lostSeq);
      const output = await (await getSession()).forwardBackward(operation, isLost ? partLost() : null);
      if (adds) lostSeq = null;
      return storeResult(blobs, claimed.modelId, seq, output);
    }
    if (kind === 'optim_step') {
      if (lostSeq !== null) {
        lostSeq = null;
        throw stepLost();
      }
      const { gradNorm } = await (await getSession()).optimStep(JSON.parse(body) as OptimizerParams);
      updatedSeq = seq;
      return JSON.stringify({ metrics: { grad_norm: gradNorm } });
    }
    if (kind === 'load') {
      await load(seq, JSON.parse(body) as LoadBody);
      return JSON.stringify({ model_id: claimed.id, path: (JSON.parse(body) as LoadBody).path, type: 'load_weights' });
    }
    return deps.saves.save(claimed, { seq, kind }, JSON.parse(body) as SaveBody, await getSession());
  }

  async function getSession(): Promise<RunSession> {
    if (session) return session;
    const replay = planReplay(await finishedOperations());
    session = await openRunSession(claimed, await startOf(), replay, trainer, deps, signal, waits.holder);
    waits.waitsFor(null); // not for a trainer either
    updatedSeq = replay.operations.findLast(({ kind }) => kind === 'optim_step')?.seq ?? stateSeq;
    return session;
  }

  async function startOf(): Promise<RunStart> {
    if (stateBlob === null) {
      const stepZero = await storage.checkpoints.find(claimed.modelId, 0);
      if (!stepZero)
        throw new AppError('checkpoint_not_found', `The weights that ${claimed.id} began with were deleted.`);
      return { from: await getCheckpointFiles(blobs, stepZero), resetOptimizer: claimed.resetsOptimizer };
    }
    const from = await blobs.findDirectory(stateBlob);
    if (from === null)
      throw new AppError('damaged_data', `The saved state of ${claimed.id} is gone from the blob store.`);
    return { from, resetOptimizer: false };
  }

  /** Abandons the current training; the state is saved at once, so that nothing before it is replayed. */
  async function load(seq: number, { path, optimizer }: LoadBody): Promise<void> {
    const from = await deps.saves.filesOf(claimed, path, optimizer);
    await drop();
    const start = { from, resetOptimizer: !optimizer };
    session = await openRunSession(
      claimed,
      start,
      { operations: [], lostSeq: null },
      trainer,
      deps,
      signal,
      waits.holder,
    );
    lostSeq = null;
    updatedSeq = seq;
    await saveState();
  }

  async function saveState(): Promise<void> {
    if (!session) return;
    const blob = tinkerStateBlob(claimed.modelId, updatedSeq, claimed.attempt);
    const stored = await session.save(blob, true);
    await storage.accounts.addBlob({ blob, entity: claimed.entity, keyId: claimed.keyId, ...stored });
    const old = stateBlob;
    if (!(await beginLogAfter(updatedSeq, blob))) {
      await blobs.delete(blob);
      return;
    }
    savedMs = clock.now();
    if (old !== null && old !== blob) await blobs.delete(old);
  }

  /** Forward passes, saves and failed steps change nothing: a client that makes no other calls has a short log, too. */
  async function shortenLog({ kind }: TinkerOperation): Promise<void> {
    if (updatedSeq > stateSeq) await saveState();
    if (kind !== 'optim_step' && doneSeq - lookedThrough < LOOKED_THROUGH_EVERY) return;
    lookedThrough = doneSeq;
    const before = (neededFrom(planReplay(await finishedOperations())) ?? doneSeq + 1) - 1;
    if (before > stateSeq) await beginLogAfter(before, stateBlob);
  }

  /** False: another attempt has the run. */
  async function beginLogAfter(seq: number, blob: string | null): Promise<boolean> {
    const dropped = (await finishedOperations()).filter((each) => each.kind === 'forward_backward' && each.seq <= seq);
    if (!(await storage.tinker.saveState(claimed, { stateSeq: seq, stateBlob: blob }))) return false;
    [stateSeq, stateBlob] = [seq, blob];
    for (const each of dropped) await blobs.delete(tinkerRequestBlob(claimed.modelId, each.seq));
    await forgetOldOperations(deps, claimed, stateSeq);
    return true;
  }

  async function drop(): Promise<void> {
    const closing = session;
    session = null;
    await closing?.close().catch((err: unknown) => log.warn('tinker_run.not_closed', { err }));
  }

  /** Saved first, because the next loan starts where this one ends. */
  async function leave(): Promise<void> {
    try {
      if (session && updatedSeq > stateSeq) await saveState();
    } catch (error) {
      log.warn('tinker_run.not_saved', { err: error }); // replayed instead
    }
    await drop();
  }
}

async function listAll(storage: Storage, runId: string, from: number): Promise<TinkerOperation[]> {
  const all: TinkerOperation[] = [];
  for (;;) {
    const page = await storage.tinker.listOperations(runId, all.at(-1)?.seq ?? from, OPERATIONS_PAGE);
    all.push(...page);
    if (page.length < OPERATIONS_PAGE) return all;
  }
}

function failed(error: unknown, message = publicError(error).message): OperationEnd {
  const isTheirs = error instanceof AppError && OF_CLIENTS.includes(error.code);
  return { result: null, error: message, category: isTheirs ? 'user' : 'server' };
}

const isStorageFault = (error: unknown): boolean => error instanceof AppError && error.code === 'storage_unavailable';

const partLost = (): AppError =>
  new AppError(
    'invalid_request',
    'A forward_backward that was sent before this one failed, so the gradients of the step were cleared and this part was not added. Send the data of the step again.',
  );

const stepLost = (): AppError =>
  new AppError(
    'invalid_request',
    'A forward_backward before this optim_step failed, so the step would use only part of its data: it was not executed, and the gradients were cleared. Send the data again, then the step.',
  );
