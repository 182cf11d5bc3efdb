// For a loop that waits until there may be work. A wake without a waiter ends the next wait at once, so a loop that checks, finds
// nothing and then waits misses nothing that happened in between.

export interface WakeSignal {
  wake(): void;
  /** Resolves at the next wake, or after `timeoutMs`. For one waiter at a time. */
  wait(timeoutMs: number): Promise<void>;
}

export function createWakeSignal(): WakeSignal {
  let isWoken = false;
  let endWait = () => {};
  return {
    wake() {
      isWoken = true;
      endWait();
    },
    async wait(timeoutMs) {
      if (!isWoken) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          endWait = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isWoken = false;
    },
  };
}
