// A job runner wired as in a server, for tests that set only the options they are about.
import { systemClock } from '#base/clock';
import { silentLog } from '#base/log';
import type { TrainerCapabilities } from '#engine/capabilities';
import type { JobObserver } from '#services/jobs/attempt/job-attempt';
import { createJobRunner, type JobRunner, type JobRunnerDeps, type TrainerRoom } from '#services/jobs/job-runner';

export const noObserver: JobObserver = { began() {}, stepped() {}, measured() {}, ended() {} };

/** Capabilities of a trainer like the embedded engine. */
export const ableTrainer = (): TrainerCapabilities => ({
  exactTraining: true,
  exactLogprobs: true,
  sharedPrefixRows: true,
  keepsGradients: true,
});

/** Capabilities of a trainer without a sampler on the same machine. */
export const noSampler = { preload: async () => {}, unload: async () => {} };

const USUAL = {
  clock: systemClock,
  log: silentLog,
  observer: noObserver,
  retryPolicy: { initialDelayMs: 1, maxDelayMs: 20, totalMs: 60_000 },
  attemptsMax: 20,
  baseModels: null as readonly string[] | null,
  trainerRoom: (): ReadonlyMap<string, TrainerRoom> => new Map(),
} satisfies Partial<JobRunnerDeps>;

export const aJobRunner = (deps: Omit<JobRunnerDeps, keyof typeof USUAL> & Partial<typeof USUAL>): JobRunner =>
  createJobRunner({ ...USUAL, ...deps });
