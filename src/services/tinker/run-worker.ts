// Executes the operations of training runs, on servers that train: claims runs whose next operation has arrived, which
// take turns at the trainer (trainer-turns.ts), and releases each when nothing more comes. run-execution.ts executes one run.
import type { Log } from '#base/log';
import type { TinkerRun } from '#domain/tinker';
import { createClaimLoop, holdLease } from '../claim-loop.ts';
import type { JobEvents } from '../jobs/job-events.ts';
import { executeRun, type ExecutionDeps } from './run-execution.ts';
import type { RunTrainer } from './run-session.ts';

export interface RunWorkerDeps extends ExecutionDeps {
  /** Notified when a run has something new to do, or has done something. */
  readonly runEvents: JobEvents;
  /** No other server executes runs of this storage, so those marked as held at the start are free. */
  readonly exclusive: boolean;
  /** By base model: the ones that are trained here. */
  readonly trainers: ReadonlyMap<string, RunTrainer>;
  readonly log: Log;
}

export interface RunWorker {
  start(): Promise<void>;
  /** Lets the running operation finish and saves its effect. */
  stop(): Promise<void>;
}

/** The lease, as for jobs. */
const LEASE_MS = 20_000;
const POLL_MS = 1_000;
/** Operations whose predecessors have not arrived by then fail. */
const GAP_MS = 60_000;
/** Maximum concurrent runs, most of which wait for the trainer with their state on disk; further ones wait for one to pause. */
const RUNS_MAX = 256;

export function createRunWorker(deps: RunWorkerDeps): RunWorker {
  const { storage, runEvents, clock, trainers } = deps;
  let stopListening = () => {};

  const loop = createClaimLoop<TinkerRun>({
    claim(worker) {
      const lease = { nowMs: clock.now(), leaseMs: LEASE_MS, gapMs: GAP_MS };
      return storage.tinker.claimRun(worker, lease, [...trainers.keys()]);
    },
    run: execute,
    runningMax: RUNS_MAX,
    pollMs: POLL_MS,
    report: (err, run) => deps.log.error('tinker_runs.failed', { err, runId: run?.id }),
  });

  async function execute(run: TinkerRun): Promise<void> {
    const log = deps.log.child({ runId: run.id, attempt: run.attempt });
    const renew = async () => {
      if (!(await storage.tinker.renewRun(run, clock.now() + LEASE_MS))) lease.cut('lost');
    };
    const lease = holdLease<'lost'>(loop.stopping, LEASE_MS, renew, (err) =>
      log.warn('tinker_run.lease_not_renewed', { err }),
    );
    try {
      const trainer = trainers.get(run.baseModel)!;
      await executeRun(run, trainer, { ...deps, log, gapMs: GAP_MS }, lease.signal);
    } catch (error) {
      // Its operations stay in the log: the next server that claims it continues.
      log.error('tinker_run.interrupted', { err: error });
      await runEvents.wait(run.id, POLL_MS, loop.stopping);
    } finally {
      lease.release();
      await storage.tinker
        .renewRun(run, 0)
        .catch((err: unknown) => log.warn('tinker_run.lease_not_given_back', { err }));
    }
  }

  return {
    async start() {
      if (deps.exclusive) await storage.tinker.releaseRuns();
      // With an id, the event is for the executor of that run.
      stopListening = runEvents.listen((runId) => {
        if (runId === null) loop.wake();
      });
      loop.start();
    },
    async stop() {
      stopListening();
      await loop.stop();
    },
  };
}
