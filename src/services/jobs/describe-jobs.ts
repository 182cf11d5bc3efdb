// What lists tell of jobs beside the jobs themselves: the names of their models, and what their checkpoints measured.
import type { TrainingJob } from '#domain/training-job';
import type { Storage } from '#storage/storage';

export interface DescribedJob {
  readonly job: TrainingJob;
  /** `project/name`; null: the model was deleted meanwhile. */
  readonly modelName: string | null;
  /** Of the checkpoint that it made; null: there is none. */
  readonly metrics: Readonly<Record<string, number>> | null;
}

/** In the order of `jobs`. */
export async function describeJobs(
  { jobs: store }: Pick<Storage, 'jobs'>,
  jobs: readonly TrainingJob[],
): Promise<DescribedJob[]> {
  const facts = await store.listFacts(jobs.map(({ id }) => id));
  const factsOf = new Map(facts.map((each) => [each.jobId, each]));
  return jobs.map((job) => {
    const { project, model, metrics = null } = factsOf.get(job.id) ?? {};
    return { job, modelName: project === undefined ? null : `${project}/${model}`, metrics };
  });
}
