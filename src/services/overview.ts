// The summary for the home page: what is running, what waits, what finished, and how each model's reward moves. Takes a few indexed
// reads however many models and jobs there are. Knows neither HTTP nor presentation.
import type { Clock } from '#base/clock';
import type { Caller } from '#domain/caller';
import type { Model } from '#domain/model';
import { NO_LABELS, type ModelLabels } from '#domain/model-labels';
import type { Listing, Page } from '#domain/page';
import type { JobStatus, TrainingJob } from '#domain/training-job';
import { dayUtcAt, type UsageAmounts } from '#domain/usage';
import type { ModelFilter, Storage } from '#storage/storage';
import type { Usage } from './accounts/usage.ts';
import { describeJobs, type DescribedJob } from './jobs/describe-jobs.ts';

export interface JobOfModel extends DescribedJob {
  readonly model: Model;
}

export interface Overview {
  /** The first 50. */
  readonly running: readonly JobOfModel[];
  readonly runningCount: number;
  /** The first in line. */
  readonly queued: readonly JobOfModel[];
  readonly queuedCount: number;
  /** Whatever their status, newest first. */
  readonly newest: readonly JobOfModel[];
  /** Since midnight UTC. */
  readonly usedToday: UsageAmounts;
}

export interface ModelSummary {
  readonly model: Model;
  readonly labels: ModelLabels;
  readonly latestJob: TrainingJob | null;
  readonly latestStep: number | null;
  /** Rewards of the last steps that have one, oldest first. */
  readonly rewards: readonly { readonly step: number; readonly reward: number }[];
}

export interface Overviews {
  read(caller: Caller): Promise<Overview>;
  /** Latest activity first. */
  listModels(caller: Caller, filter: Omit<ModelFilter, 'entity'>, page: Page): Promise<Listing<ModelSummary>>;
}

/** What fits on a screen; the paginated lists have the rest. */
const RUNNING_MAX = 50;
const JOBS_MAX = 10;
/** As many points as a small curve can show. */
const REWARD_STEPS_MAX = 50;
const REWARD = 'train/reward';

export interface OverviewsDeps {
  readonly storage: Storage;
  readonly usage: Pick<Usage, 'list'>;
  readonly clock: Clock;
}

export function createOverviews({ storage, usage, clock }: OverviewsDeps): Overviews {
  const jobsWith = async ({ entity }: Caller, status: JobStatus, limit: number): Promise<readonly TrainingJob[]> =>
    (await storage.jobs.list({ entity, status }, { after: null, limit })).rows;

  /** By job. Jobs of a model that was deleted meanwhile are left out. */
  async function withModels(jobs: readonly TrainingJob[]): Promise<Map<string, JobOfModel>> {
    const ids = [...new Set(jobs.map(({ modelId }) => modelId))];
    const models = new Map(
      (await Promise.all(ids.map((id) => storage.models.find(id)))).map((model) => [model?.id, model]),
    );
    const found = new Map<string, JobOfModel>();
    for (const described of await describeJobs(storage, jobs)) {
      const model = models.get(described.job.modelId);
      if (model) found.set(described.job.id, { ...described, model });
    }
    return found;
  }

  return {
    async read(caller) {
      const today = dayUtcAt(clock.now());
      const account = { entity: caller.entity, keyId: null };
      const [running, queued, newest, runningCount, queuedCount, used] = await Promise.all([
        jobsWith(caller, 'running', RUNNING_MAX),
        jobsWith(caller, 'queued', JOBS_MAX),
        storage.jobs.list({ entity: caller.entity }, { after: null, limit: JOBS_MAX }, 'desc'),
        storage.jobs.count('running', account),
        storage.jobs.count('queued', account),
        usage.list(caller, { from: today, to: today }, { after: null, limit: 1 }),
      ]);
      const jobs = new Map([...running, ...queued, ...newest.rows].map((job) => [job.id, job]));
      const described = await withModels([...jobs.values()]);
      const ofList = (list: readonly TrainingJob[]) => list.flatMap(({ id }) => described.get(id) ?? []);
      return {
        running: ofList(running),
        queued: ofList(queued),
        newest: ofList(newest.rows),
        runningCount,
        queuedCount,
        usedToday: used.totals,
      };
    },

    async listModels(caller, filter, page) {
      const { rows, hasMore } = await storage.models.list({ ...filter, entity: caller.entity }, page, 'latest');
      const ids = rows.map(({ id }) => id);
      const [labels, steps, jobs] = await Promise.all([
        storage.models.listLabels(ids),
        storage.checkpoints.listLatest(ids, REWARD_STEPS_MAX),
        storage.jobs.listLatest(ids),
      ]);
      const jobOf = new Map(jobs.map((job) => [job.modelId, job]));
      const summaries = rows.map((model): ModelSummary => {
        const own = steps.filter(({ modelId }) => modelId === model.id);
        const rewards = own.flatMap(({ step, metrics }) =>
          metrics[REWARD] === undefined ? [] : [{ step, reward: metrics[REWARD] }],
        );
        const labelsOf = labels.get(model.id) ?? NO_LABELS;
        return {
          model,
          labels: labelsOf,
          latestJob: jobOf.get(model.id) ?? null,
          latestStep: own.at(-1)?.step ?? null,
          rewards,
        };
      });
      return { rows: summaries, hasMore };
    },
  };
}
