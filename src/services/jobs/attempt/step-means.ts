// Reduces the metrics of a job's gradient steps, read from its events, to one number per metric.
import { createYielder } from '#base/yield-to-loop';
import type { TrainingEvent } from '#domain/training-job';
import type { EventStore } from '#storage/storage';

export interface MeansOfSteps {
  readonly gradientSteps: number;
  /** Means over the gradient steps; sums for those in SUMS, maxima for those in MAXIMA. */
  readonly means: Readonly<Record<string, number>>;
  /** Number of events read. */
  readonly events: number;
}

const EVENTS_PAGE = 1_000;
/** Metrics that are added up instead of averaged. */
const SUMS: ReadonlySet<string> = new Set(['num_tokens', 'num_trained_tokens', 'tokens_saved_by_sharing']);
const MAXIMA: ReadonlySet<string> = new Set(['staleness_max']);

export async function meansOfSteps(store: EventStore, jobId: string): Promise<MeansOfSteps> {
  const means = createMeans();
  const yieldToLoop = createYielder();
  let events = 0;
  for (let after: string | null = null; ;) {
    const { rows, hasMore } = await store.list(jobId, { after, limit: EVENTS_PAGE });
    for (const { type, data } of rows) {
      if (type === 'gradient_step') means.add(data);
      await yieldToLoop();
    }
    events += rows.length;
    after = rows.at(-1)?.id ?? null;
    if (!hasMore || after === null) return { ...means.read(), events };
  }
}

/** Of several jobs at once, of those that have few steps; the others are left out. */
export async function meansOfShortJobs(
  store: EventStore,
  jobIds: readonly string[],
): Promise<ReadonlyMap<string, MeansOfSteps>> {
  const { rows, hasMore } = await store.listOfJobs(jobIds, EVENTS_PAGE);
  const byJob = new Map<string, TrainingEvent[]>();
  for (const event of rows) {
    const known = byJob.get(event.jobId);
    if (known) known.push(event);
    else byJob.set(event.jobId, [event]);
  }
  const last = rows.at(-1)?.jobId; // of this one, and of those that are missing, there may be more
  const whole = jobIds.filter((id) => !hasMore || (byJob.has(id) && id !== last));
  return new Map(
    whole.map((id) => {
      const means = createMeans();
      const events = byJob.get(id) ?? [];
      for (const { type, data } of events) if (type === 'gradient_step') means.add(data);
      return [id, { ...means.read(), events: events.length }];
    }),
  );
}

/** The mean over the steps that have the metric. */
function createMeans() {
  /** `mean`: used if the sum leaves the range of a double. */
  const sums = new Map<string, { sum: number; mean: number; max: number; count: number }>();
  let gradientSteps = 0;
  return {
    add(data: Readonly<Record<string, unknown>>): void {
      gradientSteps++;
      for (const [name, value] of Object.entries(data)) {
        if (typeof value !== 'number' || name === 'gradient_step') continue;
        const { sum, mean, max, count } = sums.get(name) ?? { sum: 0, mean: 0, max: value, count: 0 };
        const share = 1 / (count + 1);
        const read = { sum: sum + value, mean: mean * (1 - share) + value * share, max: Math.max(max, value) };
        sums.set(name, { ...read, count: count + 1 });
      }
    },
    read: (): Omit<MeansOfSteps, 'events'> => ({
      gradientSteps,
      means: Object.fromEntries(
        [...sums].map(([name, { sum, mean, max, count }]) => {
          if (MAXIMA.has(name)) return [name, max];
          const ofSum = SUMS.has(name) ? sum : sum / count;
          return [name, Number.isFinite(ofSum) ? ofSum : mean];
        }),
      ),
    }),
  };
}
