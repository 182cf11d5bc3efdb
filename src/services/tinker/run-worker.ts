// Executes the operations of training runs, on servers that train: claims runs whose next operation is there, has each take its turn on
// the trainer (trainer-turns.ts), and lets it go when another waits or nothing more comes. What one run does is run-execution.ts.
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import type { TinkerRun } from '#domain/tinker';
import type { JobEvents } from '../jobs/job-events.ts';
import { executeRun, type ExecutionDeps } from './run-execution.ts';
import type { RunTrainer } from './run-session.ts';

export interface RunWorkerDeps extends ExecutionDeps {
  /** Notified of runs: something new to do, or done. */
  readonly runEvents: JobEvents;
  /** No other server executes runs of this storage: those that were held when it starts are free. */
  readonly exclusive: boolean;
  /** By base model: those that are trained here. */
  readonly trainers: ReadonlyMap<string, RunTrainer>;
  readonly log: Log;
}

export interface RunWorker {
  start(): Promise<void>;
  /** The running operation ends, and what it did is saved. */
  stop(): Promise<void>;
}

/** As jobs'. */
const LEASE_MS = 20_000;
const POLL_MS = 1_000;
/** Operations whose predecessors did not come by then are given up. */
const GAP_MS = 60_000;
/** Runs at a time, most of which wait for their turn. */
const RUNS_MAX = 64;

export function createRunWorker(deps: RunWorkerDeps): RunWorker {
  const { storage, runEvents, clock, trainers } = deps;
  const worker = createId();
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let loop: Promise<void> = Promise.resolve();

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const lease = { nowMs: clock.now(), leaseMs: LEASE_MS, gapMs: GAP_MS };
        const run = running.size < RUNS_MAX ? await storage.tinker.claimRun(worker, lease, [...trainers.keys()]) : null;
        if (run) begin(run);
        else await runEvents.wait(null, POLL_MS, stopping.signal);
      } catch (error) {
        deps.log.error('tinker_runs.failed', { err: error });
        await runEvents.wait(null, POLL_MS, stopping.signal);
      }
    }
    await Promise.all(running);
  }

  function begin(run: TinkerRun): void {
    const executing = execute(run).finally(() => {
      running.delete(executing);
      runEvents.notify(null);
    });
    running.add(executing);
  }

  async function execute(run: TinkerRun): Promise<void> {
    const log = deps.log.child({ runId: run.id, attempt: run.attempt });
    const lost = new AbortController();
    const heartbeat = setInterval(() => {
      storage.tinker
        .renewRun(run, clock.now() + LEASE_MS)
        .then((isOurs) => !isOurs && lost.abort())
        .catch((err: unknown) => log.warn('tinker_run.lease_not_renewed', { err }));
    }, LEASE_MS / 3);
    try {
      const trainer = trainers.get(run.baseModel)!;
      await executeRun(run, trainer, { ...deps, log, gapMs: GAP_MS }, AbortSignal.any([stopping.signal, lost.signal]));
    } catch (error) {
      // Its operations stay in the log: whoever claims it next goes on.
      log.error('tinker_run.interrupted', { err: error });
      await runEvents.wait(run.id, POLL_MS, stopping.signal);
    } finally {
      clearInterval(heartbeat);
      await storage.tinker
        .renewRun(run, 0)
        .catch((err: unknown) => log.warn('tinker_run.lease_not_given_back', { err }));
    }
  }

  return {
    async start() {
      if (deps.exclusive) await storage.tinker.releaseRuns();
      loop = work();
    },
    async stop() {
      stopping.abort();
      await loop;
    },
  };
}
