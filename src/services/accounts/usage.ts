// Usage accounting, exact to the token. Requests only add to sums in memory, which are written after the answers, one write at a time;
// what could not be written is kept and tried again. Only the death of the process loses amounts: those of the last COLLECT_MS.
// Knows no prices and no limits.
import { setTimeout as wakeAfter } from 'node:timers/promises';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Page } from '#domain/page';
import { addUsage, totalUsage, usageId, type RequestUse, type UsageEntry, type UsagePart } from '#domain/usage';
import type { UsageFilter, UsageListing, UsageStore, UsageSums } from '#storage/storage';

export interface Usage {
  /** Called when a request has ended, however it ended. Never waits, never throws. */
  record(use: RequestUse): void;
  /** Includes every request that was recorded before the call. */
  list(caller: Caller, filter: Omit<UsageFilter, 'entity'>, page: Page): Promise<UsageListing>;
  /** As `list`; most tokens first. */
  sums(
    caller: Caller,
    filter: Omit<UsageFilter, 'entity'>,
    by: readonly UsagePart[],
    limit: number,
  ): Promise<UsageSums>;
  /** Writes what is left, or logs the amounts if that fails for too long. */
  close(): Promise<void>;
}

export interface UsageDeps {
  readonly storage: UsageStore;
  readonly log: Log;
  /** Returns at once when the signal aborts; never throws. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Requests that end within this time share one commit, which is an fsync. */
const COLLECT_MS = 100;
/** Between attempts at a failing write: doubles from the first value to the second. */
const RETRY_MS = [1_000, 30_000] as const;
/**
 * Maximum number of entries, about 5 MB, while nothing can be written. Projects are given up first, since clients invent them: beyond
 * this number, usage of a new project is counted without its project. There are only as many keys and models as the storage has.
 */
export const ENTRIES_MAX = 10_000;
const LIST_WAIT_MS = 10_000; // a write that takes longer is stuck
const CLOSE_WAIT_MS = 5_000; // service managers kill after 10 s and more

const systemWait = (ms: number, signal: AbortSignal): Promise<void> =>
  wakeAfter(ms, undefined, { signal }).catch(() => {});

export function createUsage({ storage, log, wait = systemWait }: UsageDeps): Usage {
  let pending = new Map<string, UsageEntry>();
  /** Entries that the current write has taken out of `pending`. */
  let inFlight: ReadonlyMap<string, UsageEntry> = new Map();
  let current: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  let writingBehind = false;
  /** What was logged about failing writes since the last success. */
  let outage = { failed: false, full: false };
  let closed = false;
  const closing = new AbortController();

  function collect(entry: UsageEntry): void {
    const fits = pending.size < ENTRIES_MAX || pending.has(usageId(entry));
    if (!fits && !outage.full) {
      outage.full = true;
      log.error('usage.buffer_full', {
        entries: pending.size,
        consequence: 'usage of new projects is counted without a project',
      });
    }
    addUsage(pending, fits ? entry : { ...entry, project: '' });
  }

  async function write(): Promise<void> {
    if (pending.size === 0) return;
    inFlight = pending;
    pending = new Map();
    try {
      await storage.add([...inFlight.values()]);
    } catch (error) {
      if (!outage.failed) log.error('usage.write_failed', { ...totalUsage(inFlight.values()), err: error });
      outage.failed = true;
      for (const entry of inFlight.values()) collect(entry);
      throw error;
    } finally {
      inFlight = new Map();
    }
    if (outage.failed) log.info('usage.write_recovered');
    outage = { failed: false, full: false };
  }

  /** A write that has not started yet takes everything pending, so callers before it share it. */
  function flush(): Promise<void> {
    const begin = () => {
      next = null;
      return (current = write());
    };
    return (next ??= current.then(begin, begin));
  }

  async function writeBehind(): Promise<void> {
    for (let failures = 0; pending.size > 0 && !closing.signal.aborted;) {
      await wait(failures === 0 ? COLLECT_MS : retryMs(failures), closing.signal);
      if (closing.signal.aborted) break; // close() writes the rest
      failures = await flush().then(
        () => 0,
        () => failures + 1,
      );
    }
    writingBehind = false;
  }

  /** Returns null on timeout. Not p-timeout: these deadlines use the injected wait, and abort the work when time is up. */
  async function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    const over = new AbortController();
    try {
      return await Promise.race([work(over.signal), wait(ms, over.signal).then(() => null)]);
    } finally {
      over.abort();
    }
  }

  async function flushUntilEmpty(signal: AbortSignal): Promise<true> {
    for (let failures = 0; pending.size + inFlight.size > 0 && !signal.aborted;) {
      failures = await flush().then(
        () => 0,
        () => failures + 1,
      );
      if (failures > 0) await wait(retryMs(failures), signal);
    }
    return true;
  }

  async function allWritten(): Promise<void> {
    const written = await within(LIST_WAIT_MS, () => flush().then(() => true));
    if (written !== null) return;
    throw new AppError('internal', 'The usage of the latest requests is still being written. Try again later.');
  }

  return {
    record(use) {
      const entry = { ...use, requests: 1 };
      if (closed) return log.error('usage.lost', { ...entry });
      collect(entry);
      if (writingBehind || closing.signal.aborted) return;
      writingBehind = true;
      void writeBehind();
    },

    async list(caller, filter, page) {
      await allWritten();
      return storage.list({ ...filter, entity: caller.entity }, page);
    },

    async sums(caller, filter, by, limit) {
      await allWritten();
      return storage.sums({ ...filter, entity: caller.entity }, by, limit);
    },

    async close() {
      closing.abort();
      await within(CLOSE_WAIT_MS, flushUntilEmpty);
      closed = true;
      const lost = [...inFlight.values(), ...pending.values()];
      if (lost.length > 0)
        log.error('usage.lost', { ...totalUsage(lost), entries: lost.slice(0, LOST_ENTRIES_LOGGED) });
    },
  };
}

const LOST_ENTRIES_LOGGED = 100;

const retryMs = (failures: number): number => Math.min(RETRY_MS[0] * 2 ** (failures - 1), RETRY_MS[1]);
