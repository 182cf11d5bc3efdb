// Retries work while a database, disk or blob store temporarily cannot work, with growing pauses, until the work succeeds, fails for
// another reason, or has waited too long. The work must be repeatable.
import { setTimeout as wakeAfter } from 'node:timers/promises';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import { storageFault } from '#domain/storage-fault';

/** Not p-retry, which gives up as soon as the signal aborts: a stopping server must still try its last writes. */
export interface RetryPolicy {
  /** Pause before the second attempt; doubles from there. */
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  /** All pauses together. After that the storage error is thrown. */
  readonly totalMs: number;
}

/**
 * Throws what `work` throws; throws the storage error, with its cause, after `totalMs` or when the signal aborts. `isPassing`: other
 * errors to retry in the same way.
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  { initialDelayMs, maxDelayMs, totalMs }: RetryPolicy,
  log: Log,
  signal: AbortSignal,
  isPassing: (error: unknown) => error is AppError = isStorageFault,
): Promise<T> {
  let waitedMs = 0;
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const fault = isStorageFault(error) || isPassing(error) ? error : storageFault(error);
      if (!fault) throw error;
      if (waitedMs >= totalMs || signal.aborted) throw fault;
      const ms = Math.min(maxDelayMs, initialDelayMs * 2 ** Math.min(tries, 30));
      log.warn(fault.code === 'storage_unavailable' ? 'storage.waiting' : 'engine.waiting', {
        cause: fault.message,
        waitedMs,
        nextTryMs: ms,
      });
      await wakeAfter(ms, undefined, { signal }).catch(() => {});
      waitedMs += ms;
    }
  }
}

const isStorageFault = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'storage_unavailable';
