// SFT jobs: conversations from a file of an artifact. They are encoded into a file of the work directory, so that neither
// preparing nor training them takes more memory for more of them.
import { AppError } from '#domain/errors';
import type { SftJobBody } from '#domain/sft';
import { resolveSftConfig } from '#training/sft-config';
import { evaluateSft, trainSft } from '#training/sft-job';
import { planSftJob } from '#training/sft-plan';
import { finiteOnly } from '#training/step-metrics';
import type { JobWork, WorkContext } from './job-work.ts';
import { resolvedSft } from './resolved-config.ts';
import { openRowsFile } from './rows-file.ts';
import { parseSealedJson } from './sealed-json.ts';
import { readDataset } from './sft-dataset.ts';

export async function readSftWork(
  { job, engine, capabilities, hiddenSize, read, storage, blobs, workDirectory }: WorkContext,
  signal: AbortSignal,
): Promise<JobWork> {
  const body = await blobs.find(job.bodyBlob);
  if (!body) throw new AppError('internal', `The body ${job.bodyBlob} is gone from the blob store.`);
  const opened = parseSealedJson<SftJobBody>(body);
  if (!opened) throw new AppError('damaged_data', 'The stored request of this job is damaged. Submit it again.');
  const { dataset, config: asked, warnings = [] } = opened.value;
  const config = resolveSftConfig(asked, hiddenSize);
  const { trainedTurns } = config;
  const { contextLength, rowLengthMax } = engine.limits;
  const content = await readDataset({ storage, blobs }, dataset);
  const file = await openRowsFile(workDirectory);
  try {
    const limits = { trainedTurns, lengthMax: Math.min(contextLength, rowLengthMax) };
    const data = await read('sft', { dataset, limits }, content, (bytes) => file.write(bytes), signal);
    const plan = await planSftJob(file, data, config, {
      ...engine.limits,
      sharing: capabilities.sharedPrefixRows ? 'shared' : 'separate',
    });
    return {
      steps: plan.steps,
      rowsDigest: plan.digest,
      skipped: plan.skipped,
      warnings: [...warnings, ...plan.warnings],
      config: resolvedSft(config, plan.warmupSteps),
      counts: plan.counts,
      recorder: null,
      logsToRun: config.logsMetrics,
      headTokensMax: null,
      resetsOptimizer: true,
      prepare: async () => (session, firstBatch) => trainSft(session, plan, firstBatch),
      lateWarnings: () => [],
      async measure(session, lastStep) {
        const loss = session ? await evaluateSft(session, plan.validation) : NaN;
        const logged = plan.config.logsMetrics ? Object.entries(lastStep).map(([name, x]) => [`sft/${name}`, x]) : [];
        return finiteOnly({
          'train/loss': lastStep['loss'] ?? NaN,
          'val/loss': loss,
          ...(Object.fromEntries(logged) as Record<string, number>),
        });
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}
