// RL jobs: groups of trajectories from the job's body.
import type { RlConfigInput } from '#domain/trajectory';
import { trainRl } from '#training/rl-job';
import { planRlJob } from '#training/rl-plan';
import { prepareJob } from './job-preparation.ts';
import type { JobWork, WorkContext } from './job-work.ts';
import { openGroups } from './stored-groups.ts';

export async function planRlWork(context: WorkContext): Promise<JobWork> {
  const { job, model, start, engine, encoder, storage, blobs } = context;
  const body = await openGroups<RlConfigInput>(blobs, job.bodyBlob);
  // The order of rows is drawn from the body itself: the same data trains the same adapter, whatever the job is called.
  const plan = await planRlJob(body.groups, body.head, { encoder, budget: engine.limits, seed: body.digest });
  const klReference = body.head.klReference ?? null;
  return {
    steps: plan.rows.length,
    skipped: plan.skipped,
    counts: plan.counts,
    headTokensMax: plan.config.headTokensMax,
    resetsOptimizer: false,
    async prepare(goesOn, signal) {
      const request = { job, model, plan, klReference, start };
      const prepared = await prepareJob(request, { storage, blobs, engine, goesOn }, signal);
      return prepared && ((session, firstRow) => trainRl(session, { plan, firstRow, ...prepared }));
    },
    measure: async () =>
      Object.fromEntries(Object.entries(plan.rewards).map(([name, value]) => [`train/${name}`, value])),
  };
}
