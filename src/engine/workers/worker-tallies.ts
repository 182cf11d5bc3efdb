// What workers have done, by name, for metrics: a restarted worker continues the counts of the one before it, so that counts never
// fall. Bounded: only the latest names of ended workers are kept, and names beyond the limit are left out.
import { LRUCache } from 'lru-cache';
import type { WorkerReport, WorkerTally } from '#domain/worker';

/** Series per metric; each name is a label. As many names of ended workers are kept. */
const NAMES_MAX = 256;

/** These only increase. */
const COUNTED = ['tokens', 'reconnects', 'calls', 'waitedMs', 'messageBytes'] as const;
type Counted = Pick<WorkerTally, (typeof COUNTED)[number]>;

export interface WorkerTallies {
  ended(worker: Pick<WorkerReport, 'model' | 'name'> & Counted): void;
  /** Includes connected workers; per model and name, in the order of their connections. */
  read(workers: readonly WorkerReport[]): readonly WorkerTally[];
}

export function createWorkerTallies(): WorkerTallies {
  const gone = new LRUCache<string, Counted>({ max: NAMES_MAX });
  const keyOf = ({ model, name }: Pick<WorkerReport, 'model' | 'name'>) => JSON.stringify([model, name]);
  const before = (key: string): Counted => gone.get(key) ?? NOTHING_COUNTED;
  return {
    ended(worker) {
      const key = keyOf(worker);
      gone.set(key, sumOf(before(key), worker));
    },
    read(workers) {
      const tallies = new Map<string, WorkerTally>();
      for (const worker of workers) {
        const key = keyOf(worker);
        const { model, name } = worker;
        const sum = tallies.get(key);
        if (!sum && tallies.size === NAMES_MAX) continue;
        tallies.set(key, add(sum ?? { ...NOTHING, ...before(key), model, name }, worker));
      }
      return [...tallies.values()];
    },
  };
}

const NOTHING_COUNTED: Counted = { tokens: 0, reconnects: 0, calls: 0, waitedMs: 0, messageBytes: 0 };

const sumOf = (a: Counted, b: Counted): Counted =>
  Object.fromEntries(COUNTED.map((name) => [name, a[name] + b[name]])) as unknown as Counted;

const NOTHING = { count: 0, running: 0, waiting: 0, sessions: 0, adapters: 0, silentMs: 0 };

const add = (sum: WorkerTally, worker: WorkerReport): WorkerTally => ({
  ...sum,
  count: sum.count + 1,
  running: sum.running + worker.running,
  waiting: sum.waiting + worker.waiting,
  sessions: sum.sessions + worker.sessions,
  adapters: sum.adapters + worker.adapters.length,
  silentMs: Math.max(sum.silentMs, worker.silentMs),
  ...sumOf(sum, worker),
});
