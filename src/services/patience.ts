// Waiting for a database, disk or blob store that cannot work for a while: work that can be repeated is tried again, less and
// less often, until it succeeds, fails for another reason, or has waited too long.
import { setTimeout as wakeAfter } from 'node:timers/promises';
import type { Log } from '#base/log';
import { AppError } from '#domain/errors';
import { storageFault } from '#domain/storage-fault';

export interface Patience {
  /** Before the second try; doubles from there on. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** All waits together. Then the fault is thrown. */
  readonly totalMs: number;
}

/** Throws what `work` throws; the fault of the storage, under its name, when patience ends or the signal aborts. */
export async function withPatience<T>(
  work: () => Promise<T>,
  { firstMs, mostMs, totalMs }: Patience,
  log: Log,
  signal: AbortSignal,
): Promise<T> {
  let waitedMs = 0;
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const fault = isStorageFault(error) ? error : storageFault(error);
      if (!fault) throw error;
      if (waitedMs >= totalMs || signal.aborted) throw fault;
      const ms = Math.min(mostMs, firstMs * 2 ** Math.min(tries, 30));
      log.warn('storage.waiting', { cause: fault.message, waitedMs, nextTryMs: ms });
      await wakeAfter(ms, undefined, { signal }).catch(() => {});
      waitedMs += ms;
    }
  }
}

const isStorageFault = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'storage_unavailable';
