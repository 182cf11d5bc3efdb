// Notifies followers in this process that a job has something new to read. Only a hint: followers also poll, because the writer may be
// another process.

export interface JobEvents {
  /** This job changed; null: a job was submitted. */
  notify(jobId: string | null): void;
  /** Resolves at the next notification for this job (null: of a submission), after `timeoutMs`, or when aborted. */
  wait(jobId: string | null, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Calls the listener at every notification with the job's id, until the returned function is called. */
  listen(listener: (jobId: string | null) => void): () => void;
}

export function createJobEvents(): JobEvents {
  const waiting = new Map<string | null, Set<() => void>>();
  const listeners = new Set<(jobId: string | null) => void>();
  return {
    notify(jobId) {
      const wakes = waiting.get(jobId);
      waiting.delete(jobId);
      wakes?.forEach((wake) => wake());
      listeners.forEach((listener) => listener(jobId));
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    wait(jobId, timeoutMs, signal) {
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const wakes = waiting.get(jobId) ?? new Set();
        waiting.set(jobId, wakes);
        const wake = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wake);
          wakes.delete(wake);
          if (wakes.size === 0 && waiting.get(jobId) === wakes) waiting.delete(jobId);
          resolve();
        };
        const timer = setTimeout(wake, timeoutMs);
        signal.addEventListener('abort', wake, { once: true });
        wakes.add(wake);
      });
    },
  };
}
