// One attempt at one job, from claim to closing event. Everything it does can be done again: rows of the plan follow from
// the body, events are stored once per ordinal, the last write is a single transaction.
import type { Clock } from '#base/clock';
import { createId } from '#base/ids';
import type { Log } from '#base/log';
import type { Checkpoint } from '#domain/checkpoint';
import { AppError } from '#domain/errors';
import type { Model } from '#domain/model';
import type { EventType, TrainingJob } from '#domain/training-job';
import type { RlConfigInput } from '#domain/trajectory';
import type { TrainingEngine, TrainingSession } from '#engine/training-engine';
import type { BlobStore } from '#storage/blobs';
import type { Storage } from '#storage/storage';
import { DEFAULT_LORA } from '#training/rl-config';
import { trainRl, type RlRun } from '#training/rl-job';
import { planRlJob, type RlPlan } from '#training/rl-plan';
import type { ConversationEncoder } from '#training/tokenize';
import { openGroups } from './stored-groups.ts';
import type { JobEvents } from './job-events.ts';
import { headLimit, prepareJob } from './job-preparation.ts';
import { findProgress, forgetProgress, saveProgress, saveSession } from './job-progress.ts';

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
  const body = await openGroups<RlConfigInput>(blobs, job.bodyBlob);
  // The order of rows is drawn from the body itself: the same data trains the same adapter, whatever the job is called.
  const plan = await planRlJob(body.groups, body.head, { encoder, budget: engine.limits, seed: body.digest });
  const previous = await storage.checkpoints.findLatest(model.id);
  const step = job.step ?? (previous?.step ?? -1) + 1;
  const startedAtMs = job.startedAtMs ?? clock.now();
  const mine = () => storage.jobs.updateProgress(job.id, job.attempt, { step, startedAtMs, skipped: plan.skipped });
  if (!(await mine())) return 'lost';
  await appendEvent(deps, job, 0, 'training_started', startedData(plan));
  if (Object.keys(plan.skipped).length > 0) log.info('job.skipped', plan.skipped);

  const saved = await findProgress(blobs, job.id);
  const from = saved?.directory ?? (previous ? await blobs.openDirectory(previous.blobPrefix) : null);
  const blobPrefix = `checkpoints/${model.id}/${job.id}`;
  if (plan.rows.length === 0) {
    if (from === null) throw new AppError('checkpoint_not_found', 'The model has no checkpoint to go on from.');
    await blobs.putDirectory(blobPrefix, from); // a step with the same weights
  } else {
    const klReference = body.head.klReference ?? null;
    const request = { job, model, plan, klReference, start: previous };
    const prepared = await prepareJob(
      request,
      { storage, blobs, engine, goesOn: async () => !(await ending()) },
      signal,
    );
    if (!prepared) return (await ending()) ?? 'stopped';
    const options = { from, lora: DEFAULT_LORA, ...headLimit(plan.config.headTokensMax) };
    const session = await engine.open(options, signal);
    try {
      const outcome = await trainRows(session, { plan, firstRow: saved?.stepsDone ?? 0, ...prepared });
      if (outcome !== 'done') return outcome;
      await saveSession(blobs, blobPrefix, session, deps.workDirectory);
    } finally {
      await session.close();
    }
  }

  const checkpoint: Checkpoint = {
    id: createId(),
    modelId: model.id,
    step,
    metrics: Object.fromEntries(Object.entries(plan.rewards).map(([name, value]) => [`train/${name}`, value])),
    blobPrefix,
    createdAtMs: clock.now(),
  };
  await trainer.preload(checkpoint);
  const finished = await storage.jobs.finish(job.id, job.attempt, {
    status: 'succeeded',
    errorMessage: null,
    endedAtMs: clock.now(),
    event: newEvent(deps, job, plan.rows.length + 1, 'training_ended', {
      step,
      ...plan.counts,
      num_gradient_steps: plan.rows.length,
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

  async function trainRows(session: TrainingSession, run: RlRun): Promise<'done' | AttemptOutcome> {
    const { rows } = run.plan;
    let stepsDone = run.firstRow;
    let savedMs = clock.now();
    for await (const metrics of trainRl(session, run)) {
      stepsDone++;
      await appendEvent(deps, job, stepsDone, 'gradient_step', { gradient_step: stepsDone, ...metrics });
      const due = clock.now() - savedMs >= deps.saveEveryMs || signal.aborted;
      if (due && stepsDone < rows.length) {
        await saveProgress(blobs, job, session, stepsDone, deps.workDirectory);
        savedMs = clock.now();
      }
      log.info('job.gradient_step', {
        step: stepsDone,
        of: rows.length,
        loss: metrics['loss'],
        gradNorm: metrics['grad_norm'],
      });
      if (!(await storage.jobs.updateProgress(job.id, job.attempt, { progress: stepsDone / rows.length })))
        return 'lost';
      const outcome = await ending();
      if (outcome === 'cancelled' || (outcome === 'stopped' && stepsDone < rows.length)) return outcome;
    }
    return 'done';
  }
}

function startedData({ rows, skipped, counts }: RlPlan): Record<string, unknown> {
  return { num_sequences: rows.length, ...counts, skipped };
}

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
