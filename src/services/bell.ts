// For a loop that rests until there may be something to do. Rung while nobody waits, it ends the next wait at once: whoever
// looks, finds nothing and then waits misses nothing that came between.

export interface Bell {
  ring(): void;
  /** Resolves when it rings, and after `timeoutMs` in any case. For one at a time. */
  wait(timeoutMs: number): Promise<void>;
}

export function createBell(): Bell {
  let rung = false;
  let wake = () => {};
  return {
    ring() {
      rung = true;
      wake();
    },
    async wait(timeoutMs) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rung = false;
    },
  };
}
