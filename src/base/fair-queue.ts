// A queue that runs one piece of work at a time, round robin by payer, so that no payer waits for everything that another has sent.
// A caller that aborts loses its place; one that waits too long, or finds the queue full, is refused. Does not know what the work is.

export interface FairQueue {
  /**
   * Runs the work when it is this payer's turn; the next piece starts when it has ended. Rejects with the work's own error, with a
   * refusal, or with the signal's reason if it aborts first.
   */
  run<T>(payer: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface FairQueueOptions {
  /** Maximum waiting time. */
  readonly waitMs: number;
  /** Maximum number of waiting pieces of all payers, not counting the running one. */
  readonly waitingMax: number;
  readonly waitingOfOneMax: number;
  /** `late`: other payers were served for `waitMs`. */
  readonly refusal: (cause: 'crowded' | 'late') => Error;
}

export function createFairQueue({ waitMs, waitingMax, waitingOfOneMax, refusal }: FairQueueOptions): FairQueue {
  /** By payer; the next payer comes first. */
  const waiting = new Map<string, (() => void)[]>();
  /** The payer whose work is running. */
  let current: string | null = null;

  function checkRoom(payer: string): void {
    const count = [...waiting.values()].reduce((sum, { length }) => sum + length, 0);
    if (count >= waitingMax || (waiting.get(payer)?.length ?? 0) >= waitingOfOneMax) throw refusal('crowded');
  }

  function remove(payer: string, begin: () => void): void {
    const left = waiting.get(payer)!.filter((other) => other !== begin);
    if (left.length > 0) waiting.set(payer, left);
    else waiting.delete(payer);
  }

  async function wait(payer: string, signal?: AbortSignal): Promise<void> {
    checkRoom(payer);
    await new Promise<void>((resolve, reject) => {
      const end = () => {
        clearTimeout(late);
        signal?.removeEventListener('abort', onAbort);
        remove(payer, begin);
      };
      const begin = () => {
        end();
        resolve();
      };
      const leave = (reason: Error) => {
        end();
        reject(reason);
      };
      const onAbort = () => leave(signal!.reason as Error);
      // Hand-written instead of p-timeout: an aborted caller must leave the queue synchronously.
      const late = setTimeout(() => leave(refusal('late')), waitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      waiting.set(payer, [...(waiting.get(payer) ?? []), begin]);
    });
  }

  /** After a turn the payer goes to the end, with everything it has sent since. */
  function pass(last: string): void {
    const own = waiting.get(last);
    if (own) {
      waiting.delete(last);
      waiting.set(last, own);
    }
    const [next] = waiting;
    current = next?.[0] ?? null;
    next?.[1][0]!();
  }

  return {
    async run(payer, work, signal) {
      signal?.throwIfAborted();
      if (current === null) current = payer;
      else await wait(payer, signal);
      try {
        return await work();
      } finally {
        pass(payer);
      }
    },
  };
}
