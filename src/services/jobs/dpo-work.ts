// DPO jobs: preference pairs from a file of an artifact, encoded into a file of the work directory as the rows of SFT jobs are.
import { AppError } from '#domain/errors';
import type { DpoJobBody } from '#domain/dpo';
import { resolveDpoConfig } from '#training/dpo-config';
import { evaluateDpo, trainDpo, type ReferenceScores } from '#training/dpo-job';
import { planSftJob } from '#training/sft-plan';
import { finiteOnly } from '#training/step-metrics';
import { prepareReference } from './dpo-reference.ts';
import type { JobWork, WorkContext } from './job-work.ts';
import { resolvedDpo } from './resolved-config.ts';
import { openRowsFile } from './rows-file.ts';
import { parseSealedJson } from './sealed-json.ts';
import { readDataset } from './sft-dataset.ts';

export async function readDpoWork(context: WorkContext, signal: AbortSignal): Promise<JobWork> {
  const { job, engine, capabilities, hiddenSize, read, storage, blobs, workDirectory } = context;
  const body = await blobs.find(job.bodyBlob);
  if (!body) throw new AppError('internal', `The body ${job.bodyBlob} is gone from the blob store.`);
  const opened = parseSealedJson<DpoJobBody>(body);
  if (!opened) throw new AppError('damaged_data', 'The stored request of this job is damaged. Submit it again.');
  const { dataset, config: asked, warnings = [] } = opened.value;
  const config = resolveDpoConfig(asked, hiddenSize);
  const { contextLength, rowLengthMax } = engine.limits;
  const content = await readDataset({ storage, blobs }, dataset);
  const file = await openRowsFile(workDirectory);
  try {
    const limits = { lengthMax: Math.min(contextLength, rowLengthMax) };
    const data = await read('dpo', { dataset, limits }, content, (bytes) => file.write(bytes), signal);
    const plan = await planSftJob(file, data, config, {
      ...engine.limits,
      sharing: capabilities.sharedPrefixRows ? 'shared' : 'separate',
    });
    let reference: ReferenceScores | null = null;
    return {
      steps: plan.steps,
      rowsDigest: plan.digest,
      skipped: plan.skipped,
      warnings: [...warnings, ...plan.warnings],
      config: resolvedDpo(config, plan.warmupSteps),
      counts: plan.counts,
      recorder: null,
      logsToRun: false,
      headTokensMax: null,
      resetsOptimizer: true,
      async prepare(goesOn, signal) {
        const scored = await prepareReference(context, plan, goesOn, signal);
        if (!scored) return null;
        reference = scored;
        return (session, firstBatch) => trainDpo(session, plan, scored, firstBatch);
      },
      lateWarnings: () => [],
      async measure(session, lastStep) {
        const held = session && reference ? await evaluateDpo(session, plan, reference) : {};
        return finiteOnly({ ...measuredAs('train', lastStep), ...measuredAs('val', held) });
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Of a gradient step, what is said of pairs. */
const OF_PAIRS = ['loss', 'rewards/chosen', 'rewards/rejected', 'rewards/margins', 'rewards/accuracies'] as const;

const measuredAs = (split: string, metrics: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(OF_PAIRS.map((name) => [`${split}/${name}`, metrics[name] ?? NaN]));
