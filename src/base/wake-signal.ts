// For a loop that waits until there may be something to do. A wake while nobody waits ends the next wait at once: a loop that looks,
// finds nothing and then waits misses nothing that came between.

export interface WakeSignal {
  wake(): void;
  /** Resolves at the next wake, and after `timeoutMs` in any case. For one waiter at a time. */
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
