// One attempt at one job, from claim to closing event, whatever its kind. Everything it does can be done again: the plan
// follows from the body, events are stored once per ordinal, the last write is a single transaction.
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { EventType, TrainingJob } from '#domain/training-job';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { DEFAULT_LORA } from '#training/rl-config';
import type { StepMetrics } from '#training/step-metrics';
import type { ConversationEncoder } from '#training/tokenize';
import type { JobEvents } from './job-events.ts';
import { headLimit } from './job-preparation.ts';
import { findProgress, forgetProgress, saveProgress, saveSession } from './job-progress.ts';
import type { JobWork, StepLoop } from './job-work.ts';
import { planRlWork } from './rl-work.ts';
import type { ReadSftLine } from './sft-dataset.ts';
import { planSftWork } from './sft-work.ts';

/** What trains models of one base model, as main.ts wires it. */
export interface Trainer {
  readonly engine: TrainingEngine;
  readonly encoder: ConversationEncoder;
  /** Loads the adapter into the sampler, so that the first call after `training_ended` does not wait. */
  preload(checkpoint: Checkpoint): Promise<void>;
}

export interface AttemptDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly jobEvents: JobEvents;
  readonly clock: Clock;
  readonly log: Log;
  /** For states on their way into the blob store. */
  readonly workDirectory: string;
  readonly saveEveryMs: number;
  readonly readSftLine: ReadSftLine;
  readonly observer?: JobObserver;
}

/** Told of what happens to jobs, for metrics and traces. Never throws. */
export interface JobObserver {
  began(job: TrainingJob): void;
  stepped(job: TrainingJob, step: ObservedStep): void;
  /** Also of a job that was cancelled before it began. */
  ended(job: TrainingJob, outcome: AttemptOutcome | 'failed', error?: unknown): void;
}

export interface ObservedStep {
  readonly baseModel: string;
  /** 1, 2, … of `of`. */
  readonly step: number;
  readonly of: number;
  readonly loss: number | undefined;
  readonly startMs: number;
  readonly endMs: number;
}

/** `lost`: the lease went to another attempt, or the model was deleted. `stopped`: the server is shutting down. */
export type AttemptOutcome = 'succeeded' | 'cancelled' | 'lost' | 'stopped';

/**
 * Throws what the job cannot survive; `engine_unavailable` means that another attempt in the same process may go on from
 * the saved progress.
 */
export async function attemptJob(
  job: TrainingJob,
  model: Model,
  trainer: Trainer,
  deps: AttemptDeps,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { storage, blobs, clock, log } = deps;
  const { engine, encoder } = trainer;
  const previous = await storage.checkpoints.findLatest(model.id);
  const context = { job, model, start: previous, engine, encoder, storage, blobs };
  const work = await (job.type === 'rl' ? planRlWork(context) : planSftWork(context, deps.readSftLine));
  const step = job.step ?? (previous?.step ?? -1) + 1;
  const startedAtMs = job.startedAtMs ?? clock.now();
  const mine = () => storage.jobs.updateProgress(job.id, job.attempt, { step, startedAtMs, skipped: work.skipped });
  if (!(await mine())) return 'lost';
  await appendEvent(deps, job, 0, 'training_started', startedData(work));
  if (Object.keys(work.skipped).length > 0) log.info('job.skipped', work.skipped);

  const openPrevious = async () => previous && blobs.openDirectory(previous.blobPrefix);
  const blobPrefix = `checkpoints/${model.id}/${job.id}`;
  let metrics: Readonly<Record<string, number>>;
  let stored: { sizeBytes: number };
  if (work.steps === 0) {
    const from = await openPrevious();
    if (from === null) throw new AppError('checkpoint_not_found', 'The model has no checkpoint to go on from.');
    stored = await blobs.putDirectory(blobPrefix, from); // a step with the same weights
    metrics = await work.measure(null, {});
  } else {
    const loop = await work.prepare(async () => !(await ending()), signal);
    if (!loop) return (await ending()) ?? 'stopped';
    // Not before: a copy of a directory stays for minutes, and preparing may take longer.
    const saved = await findProgress(blobs, job.id, log);
    const from = saved?.directory ?? (await openPrevious());
    const resetOptimizer = work.resetsOptimizer && !saved;
    const options = { from, lora: DEFAULT_LORA, resetOptimizer, ...headLimit(work.headTokensMax) };
    const session = await engine.open(options, signal);
    try {
      const trained = await train(session, loop, saved?.stepsDone ?? 0);
      if (typeof trained === 'string') return trained;
      metrics = await work.measure(session, trained);
      stored = await saveSession(blobs, blobPrefix, session, deps.workDirectory);
    } finally {
      await session.close();
    }
  }

  const checkpoint: Checkpoint = {
    id: createId(),
    modelId: model.id,
    step,
    metrics,
    blobPrefix,
    createdAtMs: clock.now(),
  };
  await storage.accounts.addBlob({ blob: blobPrefix, entity: job.entity, keyId: job.keyId, ...stored });
  await trainer.preload(checkpoint);
  const finished = await storage.jobs.finish(job.id, job.attempt, {
    status: 'succeeded',
    errorMessage: null,
    endedAtMs: clock.now(),
    event: newEvent(deps, job, work.steps + 1, 'training_ended', {
      step,
      ...work.counts,
      ...metrics,
      num_gradient_steps: work.steps,
    }),
    checkpoint,
  });
  deps.jobEvents.notify(job.id);
  if (!finished) return 'lost';
  await forgetProgress(blobs, job.id);
  return 'succeeded';

  /** Null: go on. */
  async function ending(): Promise<AttemptOutcome | null> {
    if ((await storage.jobs.find(job.id))?.cancelRequested) return 'cancelled';
    return signal.aborted ? 'stopped' : null;
  }

  /** Gives the metrics of the last step, or why it ended before. */
  async function train(
    session: TrainingSession,
    loop: StepLoop,
    firstStep: number,
  ): Promise<StepMetrics | AttemptOutcome> {
    const { steps } = work;
    let stepsDone = firstStep;
    let savedMs = clock.now();
    let last: StepMetrics = {};
    let startMs = clock.now();
    for await (const metrics of loop(session, firstStep)) {
      stepsDone++;
      last = metrics;
      const step = { baseModel: model.baseModel, step: stepsDone, of: steps, loss: metrics['loss'] };
      deps.observer?.stepped(job, { ...step, startMs, endMs: clock.now() });
      await appendEvent(deps, job, stepsDone, 'gradient_step', { gradient_step: stepsDone, ...metrics });
      const due = stepsDone < steps && (clock.now() - savedMs >= deps.saveEveryMs || signal.aborted);
      if (due) {
        await saveProgress(blobs, job.id, session, stepsDone, deps.workDirectory);
        savedMs = clock.now();
      }
      log.info('job.gradient_step', {
        step: stepsDone,
        of: steps,
        loss: metrics['loss'],
        gradNorm: metrics['grad_norm'],
      });
      const progress = { progress: stepsDone / steps, ...(due ? { savedAttempt: job.attempt } : {}) };
      if (!(await storage.jobs.updateProgress(job.id, job.attempt, progress))) return 'lost';
      const outcome = await ending();
      if (outcome === 'cancelled' || (outcome === 'stopped' && stepsDone < steps)) return outcome;
      startMs = clock.now();
    }
    return last;
  }
}

const startedData = ({ steps, skipped, counts }: JobWork) => ({ num_sequences: steps, ...counts, skipped });

export function newEvent(
  { clock }: Pick<AttemptDeps, 'clock'>,
  job: TrainingJob,
  ordinal: number,
  type: EventType,
  data: Record<string, unknown>,
) {
  return { id: createId(), jobId: job.id, ordinal, type, data, createdAtMs: clock.now() };
}

async function appendEvent(
  deps: AttemptDeps,
  job: TrainingJob,
  ordinal: number,
  type: EventType,
  data: Record<string, unknown>,
): Promise<void> {
  if (await deps.storage.events.append(newEvent(deps, job, ordinal, type, data))) deps.jobEvents.notify(job.id);
}
