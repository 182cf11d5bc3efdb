// Claims what is there to do, so many at a time, and holds a lease on each until it ends. What has a dead server's lease is claimed by the
// next one that looks. What is claimed, how it is done and how its end is stored are the callers'.
import { createWakeSignal } from '#base/wake-signal';
import { createId } from '#base/ids';

export interface ClaimLoopOptions<Row> {
  /** Null: nothing is there. `worker` names this loop. */
  readonly claim: (worker: string) => Promise<Row | null>;
  /** Rejects where nothing could be stored: the lease lapses, and the row is claimed again. */
  readonly run: (row: Row) => Promise<void>;
  readonly runningMax: number;
  /** How long a row that another process made may wait for us to notice. */
  readonly pollMs: number;
  /** Of a claim, where `row` is null, or of a run. */
  readonly report: (error: unknown, row: Row | null) => void;
}

export interface ClaimLoop {
  /** Aborted by `stop`. */
  readonly stopping: AbortSignal;
  start(): void;
  /** Looks at once: there may be something. */
  wake(): void;
  /** Resolves when what runs has ended. */
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
  /** Aborted with why the work must end: what `cut` got, or `stopped` with the loop. */
  readonly signal: AbortSignal;
  cut(why: Why): void;
  /** Renews it no more. */
  release(): void;
}

/** Renews it three times as often as it would lapse. `renew` cuts where it is no longer ours; where it rejects, the next one tries again. */
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
