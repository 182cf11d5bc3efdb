// Decides which request goes to which sampler, and when: requests wait in the order of their ranks until a sampler has room for all
// their choices. One that no sampler has room for keeps the emptiest that suits it free of those behind it; they go to the others.
// Knows only what routing needs; sampler-pool.ts answers the requests.
import { AppError } from '#domain/errors';
import { findRoom } from '../queue-room.ts';
import { createFairRanks, type Arrival } from '../rank.ts';
import type { ConnectedWorker } from './connected-worker.ts';
import { createRankedLine, type Ranked } from './ranked-line.ts';
import { createRouter, fullness, type Candidate, type Wanted } from './routing.ts';

export interface QueueLimits {
  /** Choices that may wait. */
  readonly waitingMax: number;
  /** How long a request waits while no sampler is connected. */
  readonly readyMs: number;
}

export interface Slot {
  readonly worker: ConnectedWorker;
  /** All choices of the request have ended. */
  leave(): void;
}

export interface SamplerQueue {
  /** Codes: `too_many_requests`, `engine_unavailable` (no sampler for too long, or closed), `cancelled`. */
  enter(arrival: Arrival, wanted: Wanted, signal: AbortSignal): Promise<Slot>;
  /** Samplers connected, left, or have more room. */
  dispatch(): void;
  /** Choices that this server has sent to a sampler. */
  loadOf(worker: ConnectedWorker): number;
  readonly waiting: number;
  close(): void;
}

/** Requests that find no room and are passed over at a time: they may be tens of thousands. */
const PASSED_MAX = 256;

interface Waiting extends Ranked {
  readonly wanted: Wanted;
  readonly begin: (place: Slot) => void;
  readonly giveUp: (error: AppError) => void;
}

export function createSamplerQueue(
  samplers: () => readonly ConnectedWorker[],
  modelId: string,
  limits: QueueLimits,
): SamplerQueue {
  const ranks = createFairRanks();
  const router = createRouter();
  const loads = new Map<string, number>();
  const line = createRankedLine<Waiting>();
  let isClosed = false;
  const loadOf = ({ sessionId }: ConnectedWorker) => loads.get(sessionId) ?? 0;

  function dispatch(): void {
    const there = samplers();
    /** Kept for a request that goes before: nobody fills them, so their load only falls until it fits. */
    const kept = new Set<ConnectedWorker>();
    let passed = 0;
    for (let next = line.at(0); next && passed <= PASSED_MAX; next = line.at(passed)) {
      const { size, wanted, rank, begin, giveUp } = next;
      const suited = there.filter((worker) => suits(worker, wanted));
      if (there.length > 0 && suited.length === 0) {
        giveUp(headless(modelId));
        continue;
      }
      if (!there.some((worker) => !kept.has(worker) && isAble(worker, 1))) return;
      const free = suited.filter((worker) => !kept.has(worker));
      const able = free.filter((worker) => isAble(worker, size));
      const chosen = router.choose(able.map(candidateOf), wanted);
      if (chosen === null) {
        passed++;
        const emptiest = free
          .filter(isReachable)
          .sort((a, b) => fullness(candidateOf(a)) - fullness(candidateOf(b)))[0];
        if (emptiest) kept.add(emptiest);
        continue;
      }
      line.remove(next);
      ranks.begin(rank);
      begin(
        take(
          able.find(({ sessionId }) => sessionId === chosen)!,
          size,
        ),
      );
    }
  }

  const candidateOf = (worker: ConnectedWorker): Candidate => ({
    id: worker.sessionId,
    load: loadOf(worker),
    size: worker.hello.sampler!.sequencesMax,
  });

  /** A request with more choices than any sampler computes at once goes to an idle sampler. */
  function isAble(worker: ConnectedWorker, size: number): boolean {
    if (!isReachable(worker)) return false;
    const load = loadOf(worker);
    return load === 0 || load + size <= worker.hello.sampler!.sequencesMax;
  }

  function take(worker: ConnectedWorker, size: number): Slot {
    loads.set(worker.sessionId, loadOf(worker) + size);
    let left = false;
    return {
      worker,
      leave() {
        if (left) return;
        left = true;
        const load = loadOf(worker) - size;
        if (load > 0) loads.set(worker.sessionId, load);
        else loads.delete(worker.sessionId);
        dispatch();
      },
    };
  }

  return {
    loadOf,
    dispatch,
    get waiting() {
      return line.choices.all;
    },
    enter(arrival, wanted, signal) {
      if (isClosed) return Promise.reject(samplersClosed(modelId));
      return new Promise((resolve, reject) => {
        findRoom(arrival.size, line.choices.of(arrival.payer), limits.waitingMax);
        const leaveLine = () => {
          line.remove(entry);
          clearInterval(nobodyThere);
          signal.removeEventListener('abort', onAbort);
        };
        const entry: Waiting = {
          rank: ranks.assign(arrival),
          size: arrival.size,
          wanted,
          begin: (place) => (leaveLine(), resolve(place)),
          giveUp: (error) => (leaveLine(), ranks.withdraw(entry.rank, entry.size), reject(error)),
        };
        const onAbort = () =>
          entry.giveUp(new AppError('cancelled', 'The request was cancelled.', { cause: signal.reason }));
        const nobodyThere = setInterval(() => {
          if (samplers().length === 0) entry.giveUp(absent(modelId, limits.readyMs));
        }, limits.readyMs);
        if (signal.aborted) return onAbort();
        signal.addEventListener('abort', onAbort, { once: true });
        line.add(entry);
        dispatch();
      });
    },
    close() {
      isClosed = true;
      for (const { giveUp } of line.list()) giveUp(samplersClosed(modelId));
    },
  };
}

const isReachable = ({ state, isFull }: ConnectedWorker): boolean => state === 'connected' && !isFull;

/** Whatever else it has to do. */
export const suits = ({ hello }: ConnectedWorker, { isOnHead }: Pick<Wanted, 'isOnHead'>): boolean =>
  !isOnHead || hello.sampler!.capabilities.headAdapters === true;

const headless = (modelId: string): AppError =>
  new AppError(
    'invalid_request',
    `No worker that samples ${modelId} supports adapters on the output head (lm_head), and without the head this adapter would give different answers. Start a Node worker, or a vLLM worker for a family whose head vLLM can adapt; or train without lm_head (Tinker: train_unembed=False).`,
    { param: 'model' },
  );

export const samplersClosed = (modelId: string): AppError =>
  new AppError('engine_unavailable', `The server is stopping and has released the samplers of ${modelId}. Try again.`, {
    retryAfterSeconds: 1,
  });

const absent = (modelId: string, waitedMs: number): AppError =>
  new AppError(
    'engine_unavailable',
    `No worker that samples ${modelId} has been connected for ${waitedMs} ms. Start one with \`whetstone-worker run --model ${modelId} --roles sample\`, or check \`whetstone workers\`.`,
    { retryAfterSeconds: 5 },
  );
