// DPO jobs: preference pairs from a file of an artifact (dataset-work.ts).
import type { DpoConfigInput } from '#domain/dpo';
import { resolveDpoConfig, type DpoConfig } from '#training/dpo-config';
import { evaluateDpo, trainDpo, type ReferenceScores } from '#training/dpo-job';
import { finiteOnly, type StepMetrics } from '#training/step-metrics';
import { readDatasetWork } from './dataset-work.ts';
import { prepareReference } from './dpo-reference.ts';
import type { JobWork, WorkContext } from './job-work.ts';
import { resolvedDpo } from '../data/resolved-config.ts';

export function readDpoWork(context: WorkContext, signal: AbortSignal): Promise<JobWork> {
  let reference: ReferenceScores | null = null;
  return readDatasetWork<DpoConfigInput, DpoConfig>(context, {
    resolve: (asked) => resolveDpoConfig(asked, context.hiddenSize),
    read: ({ dataset, lengthMax, content, put }) =>
      context.read('dpo', { dataset, limits: { lengthMax } }, content, put, signal),
    resolved: resolvedDpo,
    trained: (plan) => ({
      logsToRun: false,
      async prepare(goesOn, signal) {
        const scored = await prepareReference(context, plan, goesOn, signal);
        if (!scored) return null;
        reference = scored;
        return (session, firstBatch) => trainDpo(session, plan, scored, firstBatch);
      },
      async evaluate(session, goesOn) {
        const metrics = await evaluateDpo(session, plan, reference!, goesOn);
        return metrics && measuredAs('val', metrics);
      },
      async measure(session, lastStep) {
        const isKnown = 'val/loss' in lastStep;
        const metrics = session && reference && !isKnown ? await evaluateDpo(session, plan, reference) : null;
        const ofHeld = metrics ? measuredAs('val', metrics) : onlyOf('val', lastStep);
        return finiteOnly({ ...measuredAs('train', lastStep), ...ofHeld });
      },
    }),
  });
}

/** The metrics of a gradient step that concern pairs. */
const OF_PAIRS = ['loss', 'rewards/chosen', 'rewards/rejected', 'rewards/margins', 'rewards/accuracies'] as const;

const onlyOf = (split: string, metrics: StepMetrics): StepMetrics =>
  Object.fromEntries(Object.entries(metrics).filter(([name]) => name.startsWith(`${split}/`)));

const measuredAs = (split: string, metrics: StepMetrics): StepMetrics =>
  Object.fromEntries(OF_PAIRS.map((name) => [`${split}/${name}`, metrics[name] ?? NaN]));
