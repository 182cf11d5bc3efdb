// Numbered operations of a training run: accepted once per number, stored before they are acknowledged, and answered when a server that
// trains has executed them (run-worker.ts).
import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock';
import { tinkerRequestBlob } from '#domain/blob-names';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { OperationKind, TinkerOperation } from '#domain/tinker';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import type { AccountLimits } from '../accounts/account-limits.ts';
import { holdBlobs } from '../accounts/stored-bytes.ts';
import type { JobEvents } from '../jobs/job-events.ts';
import { readResult, type FutureAnswer } from './operation-results.ts';
import type { TinkerSessions } from './tinker-sessions.ts';

export interface NewOperation {
  readonly runId: string;
  readonly seq: number;
  readonly kind: OperationKind;
  readonly body: object;
  /** Stored next to the row until a saved state includes its effect. */
  readonly request: Uint8Array | null;
  /** When the request began to arrive; what the client reads later does not count as known to it. */
  readonly begunMs?: number;
}

export interface Operations {
  /** Returns the request id. Throws `not_found`, `invalid_request` for a number that was used with another body, `too_many_requests`. */
  submit(caller: Caller, operation: NewOperation): Promise<string>;
  /** Notes that a request was refused when it arrived: its number is used, so that later ones do not wait for it, until it is sent again. */
  refuse(caller: Caller, operation: Pick<NewOperation, 'runId' | 'seq' | 'kind'>, reason: string): Promise<void>;
  /** Waits a while for the result. Throws `not_found`. */
  retrieve(caller: Caller, requestId: string, signal: AbortSignal): Promise<FutureAnswer>;
}

export interface OperationsDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly limits: Pick<AccountLimits, 'storing'>;
  readonly sessions: Pick<TinkerSessions, 'getRun'>;
  readonly runEvents: JobEvents;
  readonly clock: Clock;
  /** How long `retrieve` waits. */
  readonly waitMs: number;
}

/** Maximum queued per run. Clients have a few steps in flight; each means stored rows and blobs. */
const QUEUED_MAX = 1_000;
/**
 * Requests of a run after its last saved state, of which all gradients are computed again when its trainer or server is lost. Clients add
 * up the gradients of some hundreds before a step; run-execution.ts saves and trims the log long before the rest comes to this.
 */
const UNSAVED_MAX = 8_192;
/** Runs whose last failure is remembered. A run that is forgotten needs an optim_step before its next data. */
const FAILURES_MAX = 10_000;
const RETRY_SECONDS = 2;
const POLL_MS = 1_000;

/** `RUN/NUMBER`; number 0 is the creation of the run itself. */
export const requestIdOf = (runId: string, seq: number): string => `${runId}/${seq}`;

export function createOperations(deps: OperationsDeps): Operations {
  const { storage, blobs, limits, sessions, runEvents, clock, waitMs } = deps;

  /** By run: the last failed request of which its client has read, and when. */
  const known = new Map<string, { readonly seq: number; readonly atMs: number }>();

  function note(runId: string, seq: number): void {
    if (seq <= (known.get(runId)?.seq ?? 0)) return;
    known.delete(runId);
    known.set(runId, { seq, atMs: performance.now() });
    if (known.size > FAILURES_MAX) known.delete(known.keys().next().value!);
  }

  function knownBefore(runId: string, begunMs: number): { knows?: number } {
    const failure = known.get(runId);
    return failure && failure.atMs <= begunMs ? { knows: failure.seq } : {};
  }

  function sameOrThrow(existing: TinkerOperation, bodyHash: string): string {
    const { runId, seq } = existing;
    if (existing.bodyHash === bodyHash) return requestIdOf(runId, seq);
    throw new AppError('invalid_request', `Request ${seq} of ${runId} was already sent with another body.`);
  }

  return {
    async submit(caller, { runId, seq, kind, body, request, begunMs }) {
      const run = await sessions.getRun(caller, runId);
      const text = JSON.stringify(body);
      const bodyHash = createHash('sha256')
        .update(kind)
        .update(text)
        .update(request ?? '')
        .digest('hex');
      const existing = await storage.tinker.findOperation(runId, seq);
      const isRefused = existing?.status === 'failed' && seq > run.doneSeq;
      if (existing && !isRefused) return sameOrThrow(existing, bodyHash);
      if (seq <= run.doneSeq)
        throw new AppError(
          'invalid_request',
          `Request ${seq} of ${runId} arrived too late: requests up to ${run.doneSeq} have been executed.`,
        );
      if (seq - run.stateSeq > UNSAVED_MAX && kind !== 'optim_step' && kind !== 'load') throw tooLongAStep(runId);
      if ((await storage.tinker.countQueued(runId)) >= QUEUED_MAX)
        throw new AppError('too_many_requests', `${QUEUED_MAX} requests of this training client are already queued.`, {
          retryAfterSeconds: RETRY_SECONDS,
        });
      if (request)
        await limits.storing(caller, (bytes) =>
          holdBlobs(blobs, bytes).put(tinkerRequestBlob(run.modelId, seq), request),
        );
      const { outcome, operation } = await storage.tinker.addOperation({
        runId,
        seq,
        kind,
        bodyHash,
        body: begunMs === undefined ? text : JSON.stringify({ ...body, ...knownBefore(runId, begunMs) }),
        status: 'queued',
        result: null,
        error: null,
        category: null,
        createdAtMs: clock.now(),
      });
      if (outcome === 'exists') return sameOrThrow(operation, bodyHash);
      runEvents.notify(runId);
      runEvents.notify(null);
      return requestIdOf(runId, seq);
    },

    async refuse(caller, { runId, seq, kind }, reason) {
      const run = await sessions.getRun(caller, runId);
      if (!Number.isSafeInteger(seq) || seq <= run.doneSeq || seq > run.doneSeq + QUEUED_MAX) return;
      if (seq - run.stateSeq > UNSAVED_MAX + QUEUED_MAX) return; // its refusals have become a log of their own
      const about = { bodyHash: '', body: JSON.stringify({ forwardOnly: false }), createdAtMs: clock.now() };
      const end = { status: 'failed', result: null, error: reason, category: 'user' } as const;
      await storage.tinker.addOperation({ runId, seq, kind, ...about, ...end });
      note(runId, seq);
    },

    async retrieve(caller, requestId, signal) {
      const [, runId, number] = /^(.+)\/(\d{1,10})$/.exec(requestId) ?? [];
      const unknown = () => new AppError('not_found', `No request ${requestId.slice(0, 200)}.`);
      if (runId === undefined) throw unknown();
      await sessions.getRun(caller, runId);
      const seq = Number(number);
      if (seq === 0) return { state: 'json', json: JSON.stringify({ model_id: runId }) };
      const untilMs = performance.now() + waitMs;
      for (;;) {
        const operation = await storage.tinker.findOperation(runId, seq);
        if (!operation) throw unknown();
        const leftMs = untilMs - performance.now();
        if (operation.status === 'failed') note(runId, seq);
        if (operation.status !== 'queued' || leftMs <= 0 || signal.aborted)
          return readResult(blobs, await sessions.getRun(caller, runId), operation); // read again: what it waits behind changes
        await runEvents.wait(runId, Math.min(POLL_MS, leftMs), signal);
      }
    },
  };
}

const tooLongAStep = (runId: string): AppError =>
  new AppError(
    'invalid_request',
    `${UNSAVED_MAX} requests of ${runId} have followed its last optim_step: their gradients could not be computed again after a restart. ` +
      'Call optim_step, which clears them, and call it more often: after some thousands of requests at most.',
  );
