// Keeps one started thread in reserve: loading the library and a vocabulary takes a second or two, and a new thread is
// needed when one request's grammar has cost the last one. Does not know what the threads do.
import type { GrammarWorker } from './grammar-worker.ts';

export interface SpareWorker {
  /** Returns the reserve thread, or a new one if there is no reserve. */
  take(): GrammarWorker;
  close(): Promise<void>;
}

export function createSpareWorker(start: () => GrammarWorker): SpareWorker {
  let spare: GrammarWorker | null = null;
  let closed = false;

  function refill(): void {
    if (!closed && (spare === null || spare.lost)) spare = start();
  }

  return {
    take() {
      const worker = spare === null || spare.lost ? start() : spare;
      spare = null;
      void worker.started.then(refill); // not earlier: a request is waiting for this thread
      return worker;
    },
    async close() {
      closed = true;
      await spare?.end();
    },
  };
}
