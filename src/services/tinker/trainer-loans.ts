// Shares one trainer between jobs and Tinker's training clients. A job keeps its place until it ends; a client borrows one, is notified
// when somebody waits for it, and returns it after the current operation. Clients are served in order of arrival; jobs go first.
import { AppError } from '#domain/errors';
import { withCalls, type OpenSessionOptions, type TrainingEngine, type TrainingSession } from '#engine/training-engine';

export interface SharedTrainer {
  /** For jobs, whose runner counts the places itself: waits only for places that are lent. */
  readonly engine: TrainingEngine;
  /** Waits for a place without a limit; throws what opening throws, and `cancelled`. */
  lend(options: OpenSessionOptions, signal: AbortSignal): Promise<Loan>;
}

export interface Loan {
  readonly session: TrainingSession;
  /** `soon`: another client waits; `now`: a job does. */
  readonly wanted: 'no' | 'soon' | 'now';
  /** Called each time `wanted` changes. */
  onWanted(listener: () => void): void;
  /** Returns the place. Idempotent. */
  close(): Promise<void>;
}

interface Lent {
  wanted: Loan['wanted'];
  listener: () => void;
}

interface Waiter {
  readonly isJob: boolean;
  readonly take: () => void;
}

export function shareTrainer(engine: TrainingEngine): SharedTrainer {
  const lent = new Set<Lent>();
  let waiting: readonly Waiter[] = [];
  let jobs = 0;

  const isFree = () => lent.size + jobs < Math.max(1, engine.status().sessionsMax);

  /** The first waiter asks for the place that was lent first. */
  function ask(): void {
    while (waiting.length > 0 && isFree()) {
      const next = waiting.find(({ isJob }) => isJob) ?? waiting[0]!;
      waiting = waiting.filter((each) => each !== next);
      next.take();
    }
    const wanted = waiting.some(({ isJob }) => isJob) ? 'now' : waiting.length > 0 ? 'soon' : 'no';
    let asked = waiting.length;
    for (const each of lent) {
      const own = asked-- > 0 ? wanted : 'no';
      if (each.wanted === own) continue;
      each.wanted = own;
      each.listener();
    }
  }

  function place(isJob: boolean, signal: AbortSignal, reserve: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        isJob,
        take() {
          signal.removeEventListener('abort', leave);
          reserve();
          resolve();
        },
      };
      function leave(): void {
        waiting = waiting.filter((each) => each !== waiter);
        ask();
        reject(new AppError('cancelled', 'Waiting for the trainer was cancelled.'));
      }
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      waiting = [...waiting, waiter];
      ask();
    });
  }

  return {
    engine: {
      ...engine,
      status: () => engine.status(),
      get limits() {
        return engine.limits;
      },
      async open(options, signal) {
        if (lent.size > 0 && !isFree()) await place(true, signal, () => jobs++);
        else jobs++;
        return opened(engine.open(options, signal), () => jobs--);
      },
    },

    async lend(options, signal) {
      const own: Lent = { wanted: 'no', listener: () => {} };
      await place(false, signal, () => lent.add(own));
      const session = await opened(engine.open(options, signal), () => lent.delete(own));
      return {
        session,
        get wanted() {
          return own.wanted;
        },
        onWanted: (listener) => void (own.listener = listener),
        close: () => session.close(),
      };
    },
  };

  /** The place is free again when the session is closed, or was never opened. */
  async function opened(opening: Promise<TrainingSession>, free: () => void): Promise<TrainingSession> {
    let isOpen = true;
    const leave = () => {
      if (!isOpen) return;
      isOpen = false;
      free();
      ask();
    };
    try {
      const session = await opening;
      return withCalls(session, { close: () => session.close().finally(leave) });
    } catch (error) {
      leave();
      throw error;
    }
  }
}
