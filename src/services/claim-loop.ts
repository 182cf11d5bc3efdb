// Claims rows of work, up to a number at a time, and holds a lease on each until it ends. The next loop that looks claims rows whose
// lease a dead server let lapse. The caller decides what is claimed, how it is done and how the result is stored.
import { createWakeSignal } from '#base/wake-signal';
import { createId } from '#base/ids';

export interface ClaimLoopOptions<Row> {
  /** Null: there is nothing to do. `worker` names this loop. */
  readonly claim: (worker: string) => Promise<Row | null>;
  /** Rejects if nothing could be stored: the lease lapses, and the row is claimed again. */
  readonly run: (row: Row) => Promise<void>;
  readonly runningMax: number;
  /** Maximum delay until a row that another process inserted is noticed. */
  readonly pollMs: number;
  /** Reports an error of a claim (`row` is null) or of a run. */
  readonly report: (error: unknown, row: Row | null) => void;
}

export interface ClaimLoop {
  /** Aborted by `stop`. */
  readonly stopping: AbortSignal;
  start(): void;
  /** Looks for work at once. */
  wake(): void;
  /** Resolves when all running work has ended. */
  stop(): Promise<void>;
}

export function createClaimLoop<Row>({ claim, run, runningMax, pollMs, report }: ClaimLoopOptions<Row>): ClaimLoop {
  const worker = createId();
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const wakeSignal = createWakeSignal();
  let loop: Promise<void> = Promise.resolve();

  async function claimAll(): Promise<void> {
    while (!stopping.signal.aborted) {
      let claimed: Row | null = null;
      try {
        if (running.size < runningMax) claimed = await claim(worker);
      } catch (error) {
        report(error, null);
      }
      if (claimed) begin(claimed);
      else await wakeSignal.wait(pollMs);
    }
    await Promise.all(running);
  }

  function begin(row: Row): void {
    const ending = run(row)
      .catch((error: unknown) => report(error, row))
      .finally(() => {
        running.delete(ending);
        wakeSignal.wake();
      });
    running.add(ending);
  }

  return {
    stopping: stopping.signal,
    start() {
      loop = claimAll();
    },
    wake: () => wakeSignal.wake(),
    async stop() {
      stopping.abort();
      wakeSignal.wake();
      await loop;
    },
  };
}

export interface HeldLease<Why> {
  /** Aborted with the reason why the work must end: the argument of `cut`, or `stopped` with the loop. */
  readonly signal: AbortSignal;
  cut(why: Why): void;
  /** Stops renewing it. */
  release(): void;
}

/** Renews the lease three times per lease period. `renew` calls `cut` if the row is no longer ours; if it rejects, the next renewal tries again. */
export function holdLease<Why>(
  stopping: AbortSignal,
  leaseMs: number,
  renew: () => Promise<void>,
  reportFailure: (error: unknown) => void,
): HeldLease<Why> {
  const cutting = new AbortController();
  const stop = () => cutting.abort('stopped');
  stopping.addEventListener('abort', stop, { once: true });
  if (stopping.aborted) stop();
  const heartbeat = setInterval(() => void renew().catch(reportFailure), leaseMs / 3);
  return {
    signal: cutting.signal,
    cut: (why) => cutting.abort(why),
    release() {
      clearInterval(heartbeat);
      stopping.removeEventListener('abort', stop);
    },
  };
}
