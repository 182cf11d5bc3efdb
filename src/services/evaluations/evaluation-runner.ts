// Claims evaluations whose checkpoint exists, on servers that sample, and stores how each ended. An error ends the evaluation, never the
// job, whose checkpoint was visible before. evaluation-run.ts answers the prompts.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import { evaluationBlobs } from '#domain/blob-names';
import { AppError, publicError } from '#domain/errors';
import type { Evaluation } from '#domain/evaluation';
import type { EvaluationEnd } from '#storage/evaluation-store';
import { createClaimLoop, holdLease } from '../claim-loop.ts';
import type { JobEvents } from '../jobs/job-events.ts';
import { withRetries } from '../retry-policy.ts';
import { runEvaluation, type EvaluationRunDeps } from './evaluation-run.ts';

export interface EvaluationRunner {
  start(): Promise<void>;
  /** Abandons what is being answered; the next server continues. */
  stop(): Promise<void>;
}

export interface EvaluationRunnerDeps extends EvaluationRunDeps {
  readonly jobEvents: Pick<JobEvents, 'listen' | 'notify'>;
  readonly clock: Clock;
  readonly log: Log;
  /** No other server runs evaluations of this storage, so those that are marked running at the start are free. */
  readonly exclusive: boolean;
  /** Base models that this server samples. */
  readonly baseModels: readonly string[];
}

/** A dead server's evaluations are free after this. */
const LEASE_MS = 20_000;
/** Maximum delay until a checkpoint that another process made is noticed. */
const POLL_MS = 1_000;
/** So that small evaluations need not wait for one with a thousand prompts; more would only wait in the engine's queue. */
const EVALUATIONS_MAX = 4;

/** Attempts that end with the whole server and store no answer. An evaluation must not end its server for ever. */
const UNSETTLED_MAX = 10;

/** Why a run ends early. */
type Cut = 'cancelled' | 'lost' | 'stopped';

export function createEvaluationRunner(deps: EvaluationRunnerDeps): EvaluationRunner {
  const { storage, blobs, clock } = deps;
  let stopListening = () => {};

  const logOf = ({ jobId, attempt }: Evaluation) => deps.log.child({ jobId, evaluationAttempt: attempt });
  const loop = createClaimLoop<Evaluation>({
    claim: (worker) => storage.evaluations.claim(worker, clock.now(), LEASE_MS, deps.baseModels),
    run: (evaluation) => evaluate(evaluation, logOf(evaluation)),
    runningMax: EVALUATIONS_MAX,
    pollMs: POLL_MS,
    report: (err, evaluation) => (evaluation ? logOf(evaluation) : deps.log).error('evaluation_runner.failed', { err }),
  });

  async function evaluate(evaluation: Evaluation, log: Log): Promise<void> {
    const { jobId, modelId, attempt, unsettled, promptCount, sampleCount } = evaluation;
    log.info('evaluation.claimed', { prompts: promptCount, samples: sampleCount });
    const renewLease = async () => {
      const state = await storage.evaluations.renewLease(jobId, attempt, clock.now() + LEASE_MS);
      if (state !== 'kept' && !lease.signal.aborted) lease.cut(state);
    };
    const lease = holdLease<Cut>(loop.stopping, LEASE_MS, renewLease, (err) =>
      log.warn('evaluation.lease_not_renewed', { err }),
    );
    let end: Pick<EvaluationEnd, 'status' | 'errorMessage'> = { status: 'succeeded', errorMessage: null };
    try {
      if (unsettled > UNSETTLED_MAX) throw attemptsExhausted();
      await runEvaluation(evaluation, deps, { log, renewLease, signal: lease.signal });
    } catch (error) {
      if (!lease.signal.aborted) log.error('evaluation.failed', { err: error });
      end = { status: 'failed', errorMessage: publicError(error).message };
    } finally {
      lease.release();
    }
    const why = lease.signal.aborted ? (lease.signal.reason as Cut) : null;
    if (why === 'cancelled') end = { status: 'cancelled', errorMessage: 'cancelled' };
    if (why === null || why === 'cancelled') await finish(evaluation, end, log);
    if (why === 'stopped') await storage.evaluations.release(jobId, attempt);
    log.info(`evaluation.${why ?? end.status}`);
    deps.jobEvents.notify(jobId);
    if (why === 'lost' && !(await storage.evaluations.find(jobId))) await blobs.delete(evaluationBlobs(modelId, jobId)); // its model was deleted
  }

  const finish = ({ jobId, attempt }: Evaluation, end: Pick<EvaluationEnd, 'status' | 'errorMessage'>, log: Log) =>
    withRetries(
      () => storage.evaluations.finish(jobId, attempt, { ...end, endedAtMs: clock.now() }),
      deps.retryPolicy,
      log,
      loop.stopping,
    );

  return {
    async start() {
      if (deps.exclusive) await storage.evaluations.releaseLeases(); // their holders are gone
      stopListening = deps.jobEvents.listen(() => loop.wake());
      loop.start();
    },
    async stop() {
      stopListening();
      await loop.stop();
    },
  };
}

const attemptsExhausted = (): AppError =>
  new AppError(
    'engine_failed',
    `The server stopped during each of ${UNSETTLED_MAX} attempts at this evaluation, before an answer was stored.`,
  );
