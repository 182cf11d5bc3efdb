// SFT jobs: conversations from a file of an artifact.
import { AppError } from '#domain/errors';
import type { SftJobBody } from '#domain/sft';
import { evaluateSft, trainSft } from '#training/sft-job';
import { planSftJob } from '#training/sft-plan';
import { finiteOnly } from '#training/step-metrics';
import type { JobWork, WorkContext } from './job-work.ts';
import { openSealedJson } from './sealed-json.ts';
import { readDataset, type ReadSftLine } from './sft-dataset.ts';

export async function planSftWork(context: WorkContext, readLine: ReadSftLine): Promise<JobWork> {
  const { job, engine, encoder, storage, blobs } = context;
  const body = await blobs.find(job.bodyBlob);
  if (!body) throw new AppError('internal', `The body ${job.bodyBlob} is gone from the blob store.`);
  const opened = openSealedJson<SftJobBody>(body);
  if (!opened) throw new AppError('damaged_data', 'The stored request of this job is damaged. Submit it again.');
  const { dataset, config } = opened.value;
  const rows = await readDataset({ storage, blobs }, dataset, readLine);
  const plan = await planSftJob(rows, config, { encoder, budget: engine.limits });
  return {
    steps: plan.batches.length,
    skipped: plan.skipped,
    counts: plan.counts,
    headTokensMax: null,
    resetsOptimizer: true,
    prepare: async () => (session, firstBatch) => trainSft(session, plan, firstBatch),
    async measure(session, lastStep) {
      const loss = session ? await evaluateSft(session, plan.validation) : NaN;
      const logged = plan.config.logsMetrics ? Object.entries(lastStep).map(([name, x]) => [`sft/${name}`, x]) : [];
      return finiteOnly({
        'train/loss': lastStep['loss'] ?? NaN,
        'val/loss': loss,
        ...(Object.fromEntries(logged) as Record<string, number>),
      });
    },
  };
}
