// How a model came to be what it is, step by step: for each of its jobs what training measured, how long it took, what was left
// out. Read from jobs and their events, which stay when checkpoints are deleted; what was logged of a step goes with its checkpoint.
import { createYielder } from '#base/yield-to-loop';
import type { Caller } from '#domain/caller';
import type { Listing, Page } from '#domain/page';
import type { JobStatus, JobType, Skipped, TrainingJob } from '#domain/training-job';
import type { Storage } from '#storage/storage';
import { getOwnModel } from '../models/own-model.ts';

export interface HistoryStep {
  /** Of the job; `step-0` of the step that no job made. */
  readonly id: string;
  readonly job: (Pick<TrainingJob, 'id'> & { readonly type: JobType; readonly status: JobStatus }) | null;
  readonly step: number | null;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  readonly gradientSteps: number;
  /** Means over the gradient steps, sums of those in SUMS; and the metrics of the checkpoint, while it is there. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly skipped: Skipped;
}

export interface StepHistory {
  /** By submission, oldest first; a page ends early where jobs have many gradient steps. Throws `model_not_found`. */
  list(caller: Caller, modelId: string, page: Page): Promise<Listing<HistoryStep>>;
  /** From the cursor on, to the end. Throws before the first. */
  stream(caller: Caller, modelId: string, after: string | null): Promise<AsyncIterable<HistoryStep>>;
}

const STEP_ZERO = 'step-0';
/** A page of jobs reads their events: a page with so many ends behind the job that has them. */
const EVENTS_MAX = 20_000;
const EVENTS_PAGE = 1_000;
const STREAM_PAGE = 100;
/** Of a gradient step: what adds up. */
const SUMS: ReadonlySet<string> = new Set(['num_tokens', 'num_trained_tokens', 'tokens_saved_by_sharing']);

export function createStepHistory({ storage }: { readonly storage: Storage }): StepHistory {
  async function list(caller: Caller, modelId: string, { after, limit }: Page): Promise<Listing<HistoryStep>> {
    const rows: HistoryStep[] = [];
    if (after === null) rows.push(await stepZero(modelId));
    const page = { after: after === STEP_ZERO ? null : after, limit: limit - rows.length };
    // A page of none would still say whether there are more.
    const filter = { entity: caller.entity, modelId };
    const jobs = await storage.jobs.list(filter, { ...page, limit: Math.max(1, page.limit) });
    if (page.limit === 0) return { rows, hasMore: jobs.rows.length > 0 };
    let events = 0;
    for (const [at, job] of jobs.rows.entries()) {
      const read = await readSteps(job);
      rows.push(await toStep(job, read));
      events += read.events;
      if (events > EVENTS_MAX && at < jobs.rows.length - 1) return { rows, hasMore: true };
    }
    return { rows, hasMore: jobs.hasMore };
  }

  async function stepZero(modelId: string): Promise<HistoryStep> {
    const metrics = await metricsAt(modelId, 0);
    const none = { job: null, startedAtMs: null, endedAtMs: null, gradientSteps: 0, skipped: {} };
    return { ...none, id: STEP_ZERO, step: 0, metrics };
  }

  async function toStep(job: TrainingJob, { gradientSteps, means }: Measured): Promise<HistoryStep> {
    const { id, type, status, step, startedAtMs, endedAtMs, skipped, modelId } = job;
    const logged = step === null || status !== 'succeeded' ? {} : await metricsAt(modelId, step);
    const times = { startedAtMs, endedAtMs };
    return { id, job: { id, type, status }, step, ...times, gradientSteps, metrics: { ...means, ...logged }, skipped };
  }

  const metricsAt = async (modelId: string, step: number): Promise<Readonly<Record<string, number>>> =>
    (await storage.checkpoints.find(modelId, step))?.metrics ?? {};

  async function readSteps({ id }: TrainingJob): Promise<Measured & { events: number }> {
    const means = createMeans();
    const yieldToLoop = createYielder();
    let events = 0;
    for (let after: string | null = null; ;) {
      const { rows, hasMore } = await storage.events.list(id, { after, limit: EVENTS_PAGE });
      for (const { type, data } of rows) {
        if (type === 'gradient_step') means.add(data);
        await yieldToLoop();
      }
      events += rows.length;
      after = rows.at(-1)?.id ?? null;
      if (!hasMore || after === null) return { ...means.read(), events };
    }
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

interface Measured {
  readonly gradientSteps: number;
  readonly means: Readonly<Record<string, number>>;
}

/** Of a metric that some steps lack, over those that have it. */
function createMeans() {
  /** `mean`: where the sum leaves the range of a double. */
  const sums = new Map<string, { sum: number; mean: number; count: number }>();
  let gradientSteps = 0;
  return {
    add(data: Readonly<Record<string, unknown>>): void {
      gradientSteps++;
      for (const [name, value] of Object.entries(data)) {
        if (typeof value !== 'number' || name === 'gradient_step') continue;
        const { sum, mean, count } = sums.get(name) ?? { sum: 0, mean: 0, count: 0 };
        const share = 1 / (count + 1);
        sums.set(name, { sum: sum + value, mean: mean * (1 - share) + value * share, count: count + 1 });
      }
    },
    read: (): Measured => ({
      gradientSteps,
      means: Object.fromEntries(
        [...sums].map(([name, { sum, mean, count }]) => {
          const ofSum = SUMS.has(name) ? sum : sum / count;
          return [name, Number.isFinite(ofSum) ? ofSum : mean];
        }),
      ),
    }),
  };
}
