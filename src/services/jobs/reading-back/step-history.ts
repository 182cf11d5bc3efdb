// The history of a model, step by step: for each of its jobs the metrics of training, the duration, and what was skipped. Read from jobs
// and their events, which remain when checkpoints are deleted; metrics logged for a step are deleted with its checkpoint.
import type { Caller } from '#domain/caller';
import type { Listing, Page } from '#domain/page';
import type { JobStatus, JobType, Skipped, TrainingJob } from '#domain/training-job';
import type { Storage } from '#storage/storage';
import { getOwnModel } from '../../models/own-model.ts';
import { meansOfShortJobs, meansOfSteps, type MeansOfSteps } from '../attempt/step-means.ts';

export interface HistoryStep {
  /** The job's id; `step-0` for the step that no job made. */
  readonly id: string;
  readonly job: (Pick<TrainingJob, 'id'> & { readonly type: JobType; readonly status: JobStatus }) | null;
  readonly step: number | null;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly gradientSteps: number;
  /** Means over the gradient steps, sums for those in SUMS; and the checkpoint's own metrics while it exists. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly skipped: Skipped;
}

export interface StepHistory {
  /** In order of submission, oldest first; a page ends early if jobs have many gradient steps. Throws `model_not_found`. */
  list(caller: Caller, modelId: string, page: Page): Promise<Listing<HistoryStep>>;
  /** From the cursor to the end. Errors are thrown before the first item. */
  stream(caller: Caller, modelId: string, after: string | null): Promise<AsyncIterable<HistoryStep>>;
}

type Metrics = Readonly<Record<string, number>>;

const STEP_ZERO = 'step-0';
/** A page reads the events of its jobs: it ends after the job that exceeds this number. */
const EVENTS_MAX = 20_000;
const STREAM_PAGE = 100;

export function createStepHistory({ storage }: { readonly storage: Storage }): StepHistory {
  async function list(caller: Caller, modelId: string, { after, limit }: Page): Promise<Listing<HistoryStep>> {
    const rows: HistoryStep[] = [];
    if (after === null) rows.push(await stepZero(modelId));
    const page = { after: after === STEP_ZERO ? null : after, limit: limit - rows.length };
    // Even an empty page must say whether more follow.
    const filter = { entity: caller.entity, modelId };
    const jobs = await storage.jobs.list(filter, { ...page, limit: Math.max(1, page.limit) });
    if (page.limit === 0) return { rows, hasMore: jobs.rows.length > 0 };
    const short = await meansOfShortJobs(
      storage.events,
      jobs.rows.map(({ id }) => id),
    );
    const logged = await metricsOf(
      modelId,
      jobs.rows.flatMap(({ step }) => step ?? []),
    );
    let events = 0;
    for (const [at, job] of jobs.rows.entries()) {
      const read = short.get(job.id) ?? (await meansOfSteps(storage.events, job.id));
      rows.push(toStep(job, read, logged));
      events += read.events;
      if (events > EVENTS_MAX && at < jobs.rows.length - 1) return { rows, hasMore: true };
    }
    return { rows, hasMore: jobs.hasMore };
  }

  async function stepZero(modelId: string): Promise<HistoryStep> {
    const metrics = (await metricsOf(modelId, [0])).get(0) ?? {};
    const none = { job: null, startedAtMs: null, endedAtMs: null, gradientSteps: 0, skipped: {} };
    return { ...none, id: STEP_ZERO, step: 0, metrics };
  }

  async function metricsOf(modelId: string, steps: readonly number[]): Promise<ReadonlyMap<number, Metrics>> {
    const checkpoints = await storage.checkpoints.listAt(modelId, [...new Set(steps)]);
    return new Map(checkpoints.map(({ step, metrics }) => [step, metrics]));
  }

  return {
    async list(caller, modelId, page) {
      await getOwnModel(storage, caller, modelId);
      return list(caller, modelId, page);
    },
    async stream(caller, modelId, after) {
      await getOwnModel(storage, caller, modelId);
      const first = await list(caller, modelId, { after, limit: STREAM_PAGE });
      return (async function* () {
        for (let page = first; ;) {
          yield* page.rows;
          const last = page.rows.at(-1);
          if (!page.hasMore || !last) return;
          page = await list(caller, modelId, { after: last.id, limit: STREAM_PAGE });
        }
      })();
    },
  };
}

/** `logged`: the metrics of checkpoints, by step. */
function toStep(
  { id, type, status, step, startedAtMs, endedAtMs, skipped }: TrainingJob,
  { gradientSteps, means }: MeansOfSteps,
  logged: ReadonlyMap<number, Metrics>,
): HistoryStep {
  const ofCheckpoint = step === null || status !== 'succeeded' ? {} : logged.get(step);
  const metrics = { ...means, ...ofCheckpoint };
  return { id, job: { id, type, status }, step, startedAtMs, endedAtMs, gradientSteps, metrics, skipped };
}
