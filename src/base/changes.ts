// For those who look whether something is so, and wait for the next change if it is not: each look and the wait after it must be one
// turn of the event loop, else a change between them is missed (wake-signal.ts keeps one, for one who waits).

export interface Changes {
  /** Wakes all who wait. */
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
