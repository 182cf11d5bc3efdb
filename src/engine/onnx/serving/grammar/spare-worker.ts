// A started thread in reserve: loading the library and a vocabulary takes a second or two, and whoever needs a new thread
// needs it because another's grammar has cost the last one. Knows nothing of what the threads do.
import type { GrammarWorker } from './grammar-worker.ts';

export interface SpareWorker {
  /** The one in reserve, or a new one where there is none. */
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
      void worker.started.then(refill); // not before: somebody waits for that one
      return worker;
    },
    async close() {
      closed = true;
      await spare?.end();
    },
  };
}
