// Waiting for a database, disk or blob store that cannot work for a while: work that can be repeated is tried again, less and
// less often, until it succeeds, fails for another reason, or has waited too long.
import { setTimeout as wakeAfter } from 'node:timers/promises';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import { storageFault } from '#domain/storage-fault';

/** Not p-retry, which gives up at once when the signal has aborted: what a stopping server has to write is still tried. */
export interface RetryPolicy {
  /** Before the second try; doubles from there on. */
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  /** All waits together. Then the fault is thrown. */
  readonly totalMs: number;
}

/**
 * Throws what `work` throws; the fault of the storage, under its name, when it has waited for `totalMs` or the signal aborts. `isPassing`: other
 * errors that are waited for alike.
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
