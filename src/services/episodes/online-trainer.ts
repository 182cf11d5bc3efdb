// Makes the jobs of online training: claims a model whose next step is due, and submits one job of its complete groups, unless a job of the
// model is still queued or running. The id of each job follows from how many were made before, so a server that dies between the job and its note makes
// no second one. Which groups are complete is for the store to say, and what a job trains for episode-rollouts.ts.
import { createHash } from 'node:crypto';
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import { AppError, publicError, type ErrorCode } from '#domain/errors';
import { UNSETTLED_MAX, type OnlineTraining } from '#domain/online-training';
import type { TrainingJob } from '#domain/training-job';
import type { OnlineOutcome } from '#storage/online-training-store';
import type { Storage } from '#storage/storage';
import { findStoredCaller } from '../accounts/stored-caller.ts';
import { createClaimLoop, holdLease, type ClaimLoop } from '../claim-loop.ts';
import type { JobEvents } from '../jobs/job-events.ts';
import type { TrainingJobs } from '../jobs/training-jobs.ts';
import { findUnfinished } from '../jobs/unfinished-job.ts';
import { getLatestCheckpoint } from '../models/named-checkpoint.ts';
import { groupsThat } from './complete-group.ts';

export interface OnlineTrainerDeps {
  readonly storage: Storage;
  readonly trainingJobs: Pick<TrainingJobs, 'submitRl'>;
  readonly jobEvents: Pick<JobEvents, 'listen'>;
  readonly clock: Clock;
  readonly log: Log;
  /** No other server trains models of this storage, so those that are held at the start are free. */
  readonly exclusive: boolean;
}

export interface OnlineTrainer {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A dead server's models are free after this. */
const LEASE_MS = 20_000;
/** Maximum delay until a reward that another server took is noticed. */
const POLL_MS = 1_000;
const AT_ONCE_MAX = 4;
/** Until the next look at a model: while its job runs, after a problem that may pass, and where only a reward can change something. */
const JOB_MS = 1_000;
const PROBLEM_MS = 10_000;
const IDLE_MS = 30_000;

/** Problems that pass without anybody's doing, or because another job took the episodes. */
const PASSING: readonly ErrorCode[] = [
  'too_many_requests',
  'storage_unavailable',
  'episode_conflict',
  'episode_not_found',
  'server_stopping',
];

export function createOnlineTrainer(deps: OnlineTrainerDeps): OnlineTrainer {
  const { storage, clock } = deps;
  let stopListening = () => {};

  const logOf = ({ modelId, attempt }: OnlineTraining) => deps.log.child({ modelId, onlineAttempt: attempt });
  const loop: ClaimLoop = createClaimLoop<OnlineTraining>({
    claim: (worker) => storage.onlineTraining.claim(worker, clock.now(), LEASE_MS),
    run: (training) => advance(training, logOf(training)),
    runningMax: AT_ONCE_MAX,
    pollMs: POLL_MS,
    report: (err, training) => (training ? logOf(training) : deps.log).error('online_training.failed', { err }),
  });

  async function advance(training: OnlineTraining, log: Log): Promise<void> {
    const { modelId, attempt } = training;
    const renewLease = async () => {
      const isKept = await storage.onlineTraining.renewLease(modelId, attempt, clock.now() + LEASE_MS);
      if (!isKept && !lease.signal.aborted) lease.cut('lost');
    };
    const lease = holdLease<'lost'>(loop.stopping, LEASE_MS, renewLease, (err) =>
      log.warn('online_training.lease_not_renewed', { err }),
    );
    try {
      const outcome = await nextOutcome(deps, training, log);
      await storage.onlineTraining.settle(modelId, attempt, outcome);
      if (outcome.status !== 'active') log.info(`online_training.${outcome.status}`, { reason: outcome.pausedBy });
    } finally {
      lease.release();
    }
  }

  return {
    async start() {
      if (deps.exclusive) await storage.onlineTraining.releaseLeases(); // their holders are gone
      stopListening = deps.jobEvents.listen(() => loop.wake());
      loop.start();
    },
    async stop() {
      stopListening();
      await loop.stop();
    },
  };
}

type Deps = Pick<OnlineTrainerDeps, 'storage' | 'trainingJobs' | 'clock'>;

async function nextOutcome(deps: Deps, training: OnlineTraining, log: Log): Promise<OnlineOutcome> {
  const { storage, clock } = deps;
  const { modelId, entity, untilStep, unsettled } = training;
  const made = await jobsMade(storage, training);
  const waiting = (ms: number, lastProblem: string | null = null): OnlineOutcome => ({
    ...{ status: 'active', pausedBy: null, lastProblem, dueAtMs: clock.now() + ms },
    ...{ jobCount: made.count, lastJobId: made.last?.id ?? null },
  });
  const paused = (pausedBy: string): OnlineOutcome => ({ ...waiting(0), status: 'paused', pausedBy });

  if (unsettled > UNSETTLED_MAX)
    return paused(`Making the next job ended the server, or failed without a reason to name, ${UNSETTLED_MAX} times.`);
  if (await findUnfinished(storage, { id: modelId, entity })) return waiting(JOB_MS);
  if (made.last && made.last.status !== 'succeeded') return paused(describeEnd(made.last));
  try {
    if (await isKeyRevoked(storage, training)) return paused('The API key that set it was revoked.');
    const { step } = await getLatestCheckpoint(storage, modelId);
    if (untilStep !== null && step >= untilStep) return { ...waiting(0), status: 'reached' };
    const job = await makeJob(deps, training, { step, id: jobIdOf(training, made.count + 1) });
    if (job === null) return waiting(IDLE_MS);
    log.info('online_training.job', { jobId: job.id, step: step + 1 });
    return { ...waiting(JOB_MS), jobCount: made.count + 1, lastJobId: job.id };
  } catch (error) {
    if (!(error instanceof AppError) || error.code === 'internal') throw error;
    log.warn('online_training.no_job', { err: error });
    const { message } = publicError(error);
    return PASSING.includes(error.code) ? waiting(PROBLEM_MS, message) : paused(`The next job was refused: ${message}`);
  }
}

/** How many jobs were made, and the last one since the settings were set; also one whose note was lost with its server. */
async function jobsMade({ jobs }: Storage, training: OnlineTraining) {
  const { jobCount, lastJobId } = training;
  const unnoted = await jobs.find(jobIdOf(training, jobCount + 1));
  if (unnoted) return { count: jobCount + 1, last: unnoted };
  return { count: jobCount, last: lastJobId === null ? null : await jobs.find(lastJobId) };
}

/** Null: too few groups are complete. */
async function makeJob(
  { storage, trainingJobs }: Deps,
  training: OnlineTraining,
  { step, id }: { readonly step: number; readonly id: string },
): Promise<TrainingJob | null> {
  const { modelId, groupsPerStep, maxStaleness, job } = training;
  const groups = await storage.episodes.groups(modelId, groupsPerStep, groupsThat('complete', training, step));
  if (groups.length < groupsPerStep) return null;
  const episodeGroups: (readonly string[])[] = [];
  for (const { name } of groups) episodeGroups.push(await storage.episodes.rewardedIds(modelId, name));
  const config = maxStaleness === null ? job.config : { ...job.config, maxStaleness };
  const body = { episodeGroups, config, warnings: job.warnings };
  const caller = await findStoredCaller(storage, training);
  return trainingJobs.submitRl(caller, body, modelId, id, job.evaluation);
}

async function isKeyRevoked({ apiKeys }: Storage, { entity, keyId }: OnlineTraining): Promise<boolean> {
  const keys = await apiKeys.list(entity);
  return keys.some(({ id, revokedAtMs }) => id === keyId && revokedAtMs !== null);
}

const describeEnd = ({ id, status, errorMessage }: TrainingJob): string =>
  status === 'cancelled'
    ? `Its job ${id} was cancelled.`
    : `Its job ${id} failed: ${(errorMessage ?? 'no reason is known').replace(/\.$/, '')}.`;

/** A UUID (version 8, RFC 9562: of our own making) that two servers derive alike. */
function jobIdOf({ id }: Pick<OnlineTraining, 'id'>, count: number): string {
  const hex = createHash('sha256').update(`${id} ${count}`).digest('hex');
  const variant = ((parseInt(hex[16]!, 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
