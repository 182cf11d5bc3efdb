// Puts the scheduler's clock in the place of the process's own: timers, `performance.now`, ids. Restored by the returned function, because
// Vitest and other tests use them too. simulation.test.ts replaces modules: node:fs, node:timers/promises.
import type { Cancellable, Scheduler } from './scheduler.ts';

/** The scheduler of the simulation that is running. One runs at a time. */
let current: Scheduler | null = null;

export function theScheduler(): Scheduler {
  if (!current) throw new Error('no simulation is running');
  return current;
}

export function installFakeTime(scheduler: Scheduler): () => void {
  const before = current;
  current = scheduler;
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval } = globalThis;
  const now = performance.now.bind(performance);
  const cancel = (timer: unknown) => (timer as Cancellable | undefined)?.cancel();
  const asTimer = (timer: Cancellable) => ({ ...timer, unref() {}, ref() {} });
  Object.assign(globalThis, {
    setTimeout: (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      asTimer(scheduler.timer(() => callback(...args), ms, null)),
    setInterval: (callback: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      asTimer(scheduler.timer(() => callback(...args), ms, ms)),
    setImmediate: (callback: (...args: unknown[]) => void, ...args: unknown[]) =>
      asTimer(scheduler.timer(() => callback(...args), 0, null)),
    clearTimeout: cancel,
    clearInterval: cancel,
  });
  performance.now = () => scheduler.now();
  return () => {
    Object.assign(globalThis, { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval });
    performance.now = now;
    current = before;
  };
}

/** Takes the place of node:timers/promises. */
export const timersPromises = {
  setTimeout: (ms: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      const abort = () => {
        timer.cancel();
        reject(signal!.reason as Error);
      };
      const timer = theScheduler().timer(
        () => {
          signal?.removeEventListener('abort', abort);
          resolve(value);
        },
        ms,
        null,
      );
      signal?.addEventListener('abort', abort, { once: true });
    }),
  setImmediate: (value?: unknown) => theScheduler().wait('immediate', 0, () => value),
};
