// One attempt at one job, from claim to closing event, for every kind of job. Everything it does can be repeated: the plan follows from
// the body, events are stored once per ordinal, and the last write is a single transaction.
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import { jobCheckpointBlob, jobRecordBlob } from '#domain/blob-names';
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { EventType, Skipped, TrainingJob } from '#domain/training-job';
import { limitsBeside, type TrainingEngine, type TrainingSession } from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { DEFAULT_LORA } from '#domain/lora-config';
import type { StepMetrics } from '#training/step-metrics';
import type { ConversationEncoder } from '#training/conversation-encoder';
import { getCheckpointFiles } from '../../models/checkpoint-files.ts';
import { adapterSize, findCheckpointLora, type CheckpointLora } from '../../models/checkpoint-lora.ts';
import { forgetDeleted, planDeletions, USED_MS } from '../../models/kept-checkpoints.ts';
import { getLatestCheckpoint } from '../../models/named-checkpoint.ts';
import { createJobDataReader, type ReadData } from '../data/job-data-reader.ts';
import type { JobEvents } from '../job-events.ts';
import { copyState, watchHeldOut, type HeldOutWatch } from './held-out.ts';
import { findProgress, saveProgress, saveSession } from './job-progress.ts';
import type { JobCapabilities, JobWork, StepLoop, WorkContext } from './job-work.ts';
import { readWork } from './read-work.ts';
import { createRunMetrics } from './run-metrics.ts';
import { meansOfSteps } from './step-means.ts';

/** What trains models of one base model. `server/background.ts` connects it. */
export interface Trainer {
  readonly engine: TrainingEngine;
  /** Values may change between attempts. */
  readonly capabilities: () => JobCapabilities;
  readonly encoder: ConversationEncoder;
  /** Hidden size of the model; absent: unknown. */
  readonly hiddenSize?: number;
  /** Reads a job's data in a separate process; null: there is none. */
  readonly readElsewhere: ReadData | null;
  /** Loads the adapter into the sampler, so that the first request after `training_ended` does not wait. */
  readonly preload: (checkpoint: Checkpoint) => Promise<void>;
  /** Unloads the adapter of a deleted checkpoint once requests that use it have ended. */
  readonly unload: (checkpointId: string) => Promise<void>;
}

export interface AttemptDeps {
  readonly storage: Storage;
  readonly blobs: BlobStore;
  readonly jobEvents: JobEvents;
  readonly clock: Clock;
  readonly log: Log;
  /** Temporary directory for states on their way into the blob store. */
  readonly workDirectory: string;
  readonly saveEveryMs: number;
  readonly observer: JobObserver;
}

/** Receives job events for metrics and traces. Never throws. */
export interface JobObserver {
  began(job: TrainingJob): void;
  stepped(job: TrainingJob, step: ObservedStep): void;
  /** The checkpoint exists. */
  measured(job: TrainingJob, measured: ObservedEnd): void;
  /** Called also for a job that was cancelled before it began. */
  ended(job: TrainingJob, outcome: AttemptOutcome | 'failed', error?: unknown): void;
}

export interface ObservedStep {
  readonly baseModel: string;
  /** 1, 2, … of `of`. */
  readonly step: number;
  readonly of: number;
  readonly metrics: StepMetrics;
  readonly startMs: number;
  readonly endMs: number;
}

export interface ObservedEnd {
  readonly baseModel: string;
  /** Of the checkpoint. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly skipped: Skipped;
}

/** `lost`: the lease went to another attempt, or the model was deleted. `stopped`: the server is shutting down. */
export type AttemptOutcome = 'succeeded' | 'cancelled' | Cut;

/** Why the signal of an attempt aborts. */
export type Cut = 'lost' | 'stopped';

/**
 * `signal`: aborted with a `Cut`. Throws what ends the job; `engine_unavailable` means that another attempt in the same process may continue from
 * the saved progress.
 */
export async function attemptJob(
  job: TrainingJob,
  model: Model,
  trainer: Trainer,
  deps: AttemptDeps,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { storage, blobs, workDirectory } = deps;
  const { engine, encoder, readElsewhere, hiddenSize = null } = trainer;
  const start = await getStart(job, storage);
  const read = createJobDataReader(encoder, readElsewhere);
  const ending = () => endingOf(job, storage, signal);
  const capabilities = trainer.capabilities();
  const lora = await findCheckpointLora(blobs, start);
  const limits = lora ? limitsBeside(adapterSize(lora), engine.limits) : engine.limits;
  const context = { job, model, start, engine, limits, capabilities, hiddenSize, read, storage, blobs, workDirectory };
  const work = await readWork(context, async () => !(await ending()), signal);
  if (!work) return (await ending()) ?? 'stopped';
  try {
    return await trainWork(work, { job, model, start, lora }, trainer, deps, signal);
  } finally {
    await work.close();
  }
}

/** The same for every attempt, also if a later step was uploaded after the first one began. */
async function getStart({ id, modelId }: TrainingJob, storage: Storage): Promise<Checkpoint> {
  const step = (await storage.jobs.find(id))?.step ?? undefined;
  return getLatestCheckpoint(storage, modelId, step);
}

/** Null: continue. */
export async function endingOf(
  { id, attempt }: TrainingJob,
  storage: Storage,
  signal: AbortSignal,
): Promise<Exclude<AttemptOutcome, 'succeeded'> | null> {
  const now = await storage.jobs.find(id);
  if (now?.status !== 'running' || now.attempt !== attempt) return 'lost';
  if (now.cancelRequested) return 'cancelled';
  return signal.aborted ? (signal.reason as Cut) : null;
}

interface StartOfWork extends Pick<WorkContext, 'job' | 'model' | 'start'> {
  /** The adapter settings of the checkpoint; null: its file is missing. */
  readonly lora: CheckpointLora | null;
}

async function trainWork(
  work: JobWork,
  { job, model, start: previous, lora }: StartOfWork,
  { engine, preload, unload }: Trainer,
  deps: AttemptDeps,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { storage, blobs, clock, log } = deps;
  const ending = () => endingOf(job, storage, signal);
  const startedAtMs = job.startedAtMs ?? clock.now();
  const step = await storage.jobs.assignStep(job.id, job.attempt);
  if (step === null || !(await update({ startedAtMs, skipped: work.skipped }))) return 'lost';
  const runMetrics = work.logsToRun ? createRunMetrics({ runs: storage.runs, clock, log }, job, model, step) : null;
  await appendEvent(deps, job, 0, 'training_started', startedData(work, lora));
  const tellsOtherRows = await beganWithOtherRows(storage, job, work);
  if (Object.keys(work.skipped).length > 0) log.info('job.skipped', work.skipped);

  const blobPrefix = jobCheckpointBlob(model.id, job.id, job.attempt);
  let metrics: Readonly<Record<string, number>>;
  let stored: { sizeBytes: number };
  let { steps: stepsDone } = work;
  let heldOutFields: Readonly<Record<string, unknown>> = {};
  if (work.steps === 0) {
    stored = await blobs.putDirectory(blobPrefix, await getCheckpointFiles(blobs, previous)); // a step with the same weights
    metrics = await work.measure(null, {});
    await keepRecord(deps, job, work, 0);
  } else {
    const loop = await work.prepare(async () => !(await ending()), signal);
    if (!loop) return (await ending()) ?? 'stopped';
    // Open the saved state only now: the S3 cache may drop it while preparation runs.
    const saved = await findProgress(blobs, { jobId: job.id, rowsDigest: work.rowsDigest }, log);
    const from = saved?.directory ?? (await getCheckpointFiles(blobs, previous));
    const resetOptimizer = work.resetsOptimizer && !saved;
    if (saved) work.recorder?.restore(saved.record, saved.stepsDone);
    const options = { from, lora: DEFAULT_LORA, resetOptimizer, headTokensMax: work.headTokensMax };
    const session = await engine.open(options, signal);
    try {
      const heldOut = watchHeldOut(work.heldOut, work.steps, saved?.standing ?? null);
      const trained = await train(session, loop, heldOut, saved?.stepsDone ?? 0);
      if (typeof trained === 'string') return trained;
      stepsDone = trained.stepsDone;
      heldOutFields = heldOut.closingFields(stepsDone);
      await keepRecord(deps, job, work, stepsDone);
      const best = heldOut.instead(stepsDone);
      metrics = await work.measure(session, best?.metrics ?? trained.last);
      stored = best
        ? await copyState(blobs, job.id, best.step, blobPrefix)
        : await saveSession(blobs, blobPrefix, session, deps.workDirectory);
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
    fresh: work.steps === 0 && previous.fresh,
    createdAtMs: clock.now(),
  };
  const warnings = [...work.lateWarnings(), ...(tellsOtherRows ? [BEGAN_AGAIN] : [])];
  for (const warning of warnings) log.warn('job.warning', { warning });
  await storage.accounts.addBlob({ blob: blobPrefix, entity: job.entity, keyId: job.keyId, ...stored });
  await preload(checkpoint);
  if (runMetrics) {
    const { means } = await meansOfSteps(storage.events, job.id);
    await runMetrics.ended(stepsDone, { ...means, ...metrics });
  }
  const closingOrdinal = await storage.events.count(job.id); // also after the events of a longer plan
  const usedSinceMs = clock.now() - USED_MS;
  const surplus = await planDeletions(storage, model.id, checkpoint, usedSinceMs);
  const finished = await storage.jobs.finish(job.id, job.attempt, {
    status: 'succeeded',
    errorMessage: null,
    endedAtMs: clock.now(),
    event: newEvent(deps, job, closingOrdinal, 'training_ended', {
      step,
      ...work.counts,
      ...metrics,
      num_gradient_steps: stepsDone,
      ...heldOutFields,
      ...warned(warnings),
    }),
    checkpoint,
    surplus: { ids: surplus.map(({ id }) => id), usedSinceMs },
  });
  await forgetDeleted(deps, surplus, unload);
  deps.jobEvents.notify(job.id);
  if (finished) deps.observer.measured(job, { baseModel: model.baseModel, metrics, skipped: work.skipped });
  return finished ? 'succeeded' : 'lost';

  /** False: another attempt has the job, or it is over. */
  function update(changes: Parameters<Storage['jobs']['updateProgress']>[2]): Promise<boolean> {
    return storage.jobs.updateProgress(job.id, job.attempt, changes);
  }

  /** Returns the metrics of the last step, or why there was none. */
  async function train(
    session: TrainingSession,
    loop: StepLoop,
    heldOut: HeldOutWatch,
    firstStep: number,
  ): Promise<{ readonly last: StepMetrics; readonly stepsDone: number } | AttemptOutcome> {
    const { steps } = work;
    let stepsDone = firstStep;
    let savedMs = clock.now();
    let last: StepMetrics = {};
    let startMs = clock.now();
    for await (const ofStep of keepingRecord(loop(session, firstStep), () => stepsDone)) {
      stepsDone++;
      const step = { baseModel: model.baseModel, step: stepsDone, of: steps, metrics: ofStep };
      deps.observer.stepped(job, { ...step, startMs, endMs: clock.now() });
      const metrics = await heldOut.measured(session, stepsDone, ofStep, async () => !(await ending()));
      if (!metrics) return (await ending()) ?? 'stopped';
      last = metrics;
      const isLast = stepsDone === steps || heldOut.stops;
      if (!(await update({ progress: stepsDone / steps }))) return 'lost'; // before event and state, because a later attempt has its own
      const place = { gradient_step: stepsDone }; // first, and not a metric of the rollouts that has its name
      await appendEvent(deps, job, stepsDone, 'gradient_step', { ...place, ...metrics, ...place });
      await runMetrics?.stepped(stepsDone, metrics);
      const { standing, keptStep } = heldOut;
      const isTime = clock.now() - savedMs >= deps.saveEveryMs || signal.aborted || keptStep === stepsDone;
      log.info('job.gradient_step', {
        step: stepsDone,
        of: steps,
        loss: metrics['loss'],
        gradNorm: metrics['grad_norm'],
      });
      if (isTime && !isLast) {
        const record = work.recorder?.progress(stepsDone) ?? null;
        const { rowsDigest } = work;
        const progress = { session, stepsDone, rowsDigest, standing, keptStep, record };
        await saveProgress(blobs, job.id, progress, deps.workDirectory);
        savedMs = clock.now();
        if (!(await update({ savedAttempt: job.attempt }))) return 'lost';
      }
      const outcome = await ending();
      if (outcome === 'cancelled') await keepRecord(deps, job, work, stepsDone);
      if (outcome === 'cancelled' || (outcome === 'stopped' && !isLast)) return outcome;
      if (heldOut.stops) break;
      startMs = clock.now();
    }
    return { last, stepsDone };
  }

  /** For a job that training itself ends: the values computed so far show why. If the engine was lost, another attempt follows. */
  async function* keepingRecord(steps: AsyncIterable<StepMetrics>, stepsDone: () => number) {
    try {
      yield* steps;
    } catch (error) {
      if (error instanceof AppError && error.code === 'engine_failed') {
        await keepRecord(deps, job, work, stepsDone()).catch((fault: unknown) =>
          log.warn('job.record_not_kept', { err: fault }),
        );
      }
      throw error;
    }
  }
}

/** Written before the job ends: a replay writes the same bytes. */
async function keepRecord(
  { storage, blobs }: AttemptDeps,
  { id, entity, keyId }: TrainingJob,
  { recorder }: JobWork,
  stepsDone: number,
): Promise<void> {
  if (!recorder) return;
  const blob = jobRecordBlob(id);
  const { sizeBytes } = await blobs.put(blob, recorder.write(stepsDone));
  await storage.accounts.addBlob({ blob, entity, keyId, sizeBytes });
}

/** In the last event of a job whose first gradient steps were made by an attempt with another plan. */
const BEGAN_AGAIN =
  'Training started again from the beginning, because the trainer or the version that continued this job groups its data into other rows than the first one. ' +
  'The gradient_step events before that belong to steps that are not in this checkpoint.';

/** Unknown for a job that an older version began. */
async function beganWithOtherRows({ events }: Storage, { id }: TrainingJob, { rowsDigest }: JobWork): Promise<boolean> {
  const [first, step] = await events.first(id, 2);
  const planned = first?.data['rows_digest'];
  return step !== undefined && planned !== undefined && planned !== rowsDigest;
}

const startedData = (
  { steps, rowsDigest, skipped, warnings, counts, config }: JobWork,
  lora: CheckpointLora | null,
) => ({
  num_gradient_steps: steps,
  num_sequences: steps, // the name that published clients read
  rows_digest: rowsDigest,
  ...counts,
  skipped,
  config: { ...config, lora },
  ...warned(warnings),
});

const warned = (warnings: readonly string[]) => (warnings.length > 0 ? { warnings } : {});

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
