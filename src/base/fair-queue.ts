// Whose work is done next where one is done at a time: round robin by payer, so that nobody waits for all that another has
// sent. Who leaves gives up the place; who waits too long, or finds too many waiting, is refused. Does not know what the work is.

export interface FairQueue {
  /**
   * Runs the work when this payer is next; the next one begins when it has ended. Rejects as the work does, with a refusal, or with
   * the signal's reason when it aborts before that.
   */
  run<T>(payer: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

export interface FairQueueOptions {
  /** Nobody waits longer. */
  readonly waitMs: number;
  /** Of all payers, beside the work that runs. */
  readonly waitingMax: number;
  readonly waitingOfOneMax: number;
  /** `late`: others were served for `waitMs`. */
  readonly refusal: (cause: 'crowded' | 'late') => Error;
}

export function createFairQueue({ waitMs, waitingMax, waitingOfOneMax, refusal }: FairQueueOptions): FairQueue {
  /** By payer; who is next stands first. */
  const waiting = new Map<string, (() => void)[]>();
  /** Whose work runs. */
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
      // By hand rather than by p-timeout: who leaves must leave the line in the same moment.
      const late = setTimeout(() => leave(refusal('late')), waitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      waiting.set(payer, [...(waiting.get(payer) ?? []), begin]);
    });
  }

  /** Who was served goes behind the others, with all that was sent meanwhile. */
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
