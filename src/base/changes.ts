// Lets several waiters check a condition and wait for the next change. A check and the wait after it must happen in the same turn of
// the event loop, or a change between them is missed (wake-signal.ts, for a single waiter, remembers a missed wake).

export interface Changes {
  /** Wakes all waiters. */
  changed(): void;
  /** Resolves at the next change, or when `until` has aborted. */
  next(until: AbortSignal): Promise<void>;
}

export function createChanges(): Changes {
  const waiting = new Set<() => void>();
  return {
    changed() {
      for (const wake of [...waiting]) wake();
    },
    next(until) {
      if (until.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = () => {
          waiting.delete(wake);
          until.removeEventListener('abort', wake);
          resolve();
        };
        waiting.add(wake);
        until.addEventListener('abort', wake, { once: true });
      });
    },
  };
}
