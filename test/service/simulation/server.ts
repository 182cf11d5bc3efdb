// A simulated server: the real job service and job runner over real stores, in a process of the scheduler. A restart makes all of it anew
// from what is stored. Knows nothing of who kills it.
import { join } from 'node:path';
import { silentLog } from '#base/log';
import { createAccountLimits } from '#services/accounts/account-limits';
import { createArtifacts, type Artifacts } from '#services/artifacts/artifacts';
import { createJobEvents } from '#services/jobs/job-events';
import type { JobRunner } from '#services/jobs/job-runner';
import { createTrainingJobs, type TrainingJobs } from '#services/jobs/training-jobs';
import type { BlobStore } from '#storage/blobs';
import { createCheckedDirectories } from '#storage/blobs/checked-directories';
import { prepareFilesystemBlobs } from '#storage/blobs/filesystem';
import { withNamedFaults } from '#storage/named-faults';
import type { Storage } from '#storage/storage';
import { ableTrainer, aJobRunner, noObserver, noSampler } from '../../support/a-job-runner.ts';
import { encoder } from '../../support/training/rollouts.ts';
import type { Process, Scheduler } from './scheduler.ts';
import { createScriptedTrainer, type ScriptedTrainer } from './scripted-trainer.ts';
import type { SharedDatabase } from './shared-database.ts';

export const BASE_MODEL = 'tiny';
const BLOBS = '/data/blobs';

/** What outlives servers. */
export interface Ground {
  readonly scheduler: Scheduler;
  readonly database: SharedDatabase;
  /** Null: one server has the blobs as files. Otherwise several share these. */
  readonly bucket: BlobStore | null;
  readonly saveEveryMs: number;
  readonly verbMsMax: number;
  /** Sees that a server works on a job under an attempt: at each verb of its engine, and each change of the job's blobs. */
  readonly onWork: (server: Server, jobId: string, attempt: number, what: string) => void;
}

export interface Server {
  readonly process: Process;
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly jobs: TrainingJobs;
  readonly artifacts: Artifacts;
  readonly trainer: ScriptedTrainer;
  readonly runner: JobRunner;
}

/** Runs in the server's process. Rejects if a disk or database fails. */
export async function startServer(ground: Ground, process: Process, trains = true): Promise<Server> {
  const { scheduler, database, bucket, saveEveryMs, verbMsMax, onWork } = ground;
  const clock = { now: () => Math.floor(scheduler.now()) };
  const storage = await database.connect(scheduler, bucket ? 'shared' : 'alone');
  const stored = withNamedFaults(
    bucket ? overNetwork(scheduler, bucket) : await prepareFilesystemBlobs({ root: BLOBS }),
  );
  const attempts = new Map<string, number>();
  const blobs = watchJobs(createCheckedDirectories(stored), (jobId, what) => {
    const attempt = attempts.get(jobId);
    if (attempt !== undefined) onWork(server, jobId, attempt, what);
  });
  const jobEvents = createJobEvents();
  const limits = createAccountLimits({ storage, clock });
  const artifacts = createArtifacts({ storage, blobs, clock, log: silentLog, fileBytesMax: 1e8, limits });
  const jobs = createTrainingJobs({
    storage,
    blobs,
    jobEvents,
    clock,
    log: silentLog,
    queuedJobsMax: 100,
    recall: async function* (groups) {
      yield* groups;
    },
    artifacts,
    acceptEvaluation: () => Promise.reject(new Error('no job of the simulation has an evaluation')),
    limits,
    observer: noObserver,
  });
  /** It trains one job at a time. */
  const trainer = createScriptedTrainer(scheduler, verbMsMax, () => {
    for (const [jobId, attempt] of attempts) onWork(server, jobId, attempt, 'a verb of its engine');
  });
  const runner = aJobRunner({
    storage,
    blobs,
    jobEvents,
    clock,
    workDirectory: join('/work', process.name),
    exclusive: bucket === null,
    saveEveryMs,
    retryPolicy: { initialDelayMs: 500, maxDelayMs: 15_000, totalMs: 30 * 60_000 },
    baseModels: bucket === null ? null : [BASE_MODEL],
    trainerRoom: () => new Map([[BASE_MODEL, { jobs: 1, isReady: true }]]),
    observer: {
      ...noObserver,
      began: ({ id, attempt }) => void attempts.set(id, attempt),
      ended: ({ id }) => void attempts.delete(id),
    },
    trainerOf: () => ({ engine: trainer, encoder, capabilities: ableTrainer, readElsewhere: null, ...noSampler }),
  });
  const server: Server = { process, storage, blobs, jobs, artifacts, trainer, runner };
  if (trains) await runner.start();
  return server;
}

/** Requests to an object store: complete or not at all, and durable when they are answered. */
function overNetwork(scheduler: Scheduler, bucket: BlobStore): BlobStore {
  return {
    ...bucket,
    async put(name, content) {
      const parts: Uint8Array[] = [];
      if (content instanceof Uint8Array) parts.push(content);
      else for await (const part of content) parts.push(part);
      const whole = Buffer.concat(parts);
      return scheduler.point(`put ${name}`, () => bucket.put(name, whole));
    },
    find: (name) => scheduler.point(`get ${name}`, () => bucket.find(name)),
    list: (prefix) => scheduler.point(`list ${prefix}`, () => bucket.list(prefix)),
    delete: (name) => scheduler.point(`delete ${name}`, () => bucket.delete(name)),
  };
}

/** Tells which job a change of blobs belongs to. */
function watchJobs(blobs: BlobStore, onChange: (jobId: string, what: string) => void): BlobStore {
  const tell = (name: string, what: string) => {
    const jobId = /^jobs\/([^/]+)\/resume/.exec(name)?.[1];
    if (jobId !== undefined) onChange(jobId, `${what} of ${name}`);
  };
  return {
    ...blobs,
    put: (name, content) => (tell(name, 'a write'), blobs.put(name, content)),
    putDirectory: (prefix, directory) => (tell(prefix, 'a write'), blobs.putDirectory(prefix, directory)),
    delete: (name) => (tell(name, 'a deletion'), blobs.delete(name)),
  };
}
