// SFT jobs: conversations from a file of an artifact (dataset-work.ts).
import type { SftConfigInput } from '#domain/sft';
import { resolveSftConfig, type SftConfig } from '#training/sft-config';
import { evaluateSft, trainSft } from '#training/sft-job';
import { finiteOnly } from '#training/step-metrics';
import { readDatasetWork } from './dataset-work.ts';
import type { JobWork, WorkContext } from './job-work.ts';
import { resolvedSft } from '../data/resolved-config.ts';

export const readSftWork = (context: WorkContext, signal: AbortSignal): Promise<JobWork> =>
  readDatasetWork<SftConfigInput, SftConfig>(context, {
    resolve: (asked) => resolveSftConfig(asked, context.hiddenSize),
    read: ({ dataset, config: { trainedTurns }, lengthMax, content, put }) =>
      context.read('sft', { dataset, limits: { trainedTurns, lengthMax } }, content, put, signal),
    resolved: resolvedSft,
    trained: (plan) => ({
      logsToRun: plan.config.logsMetrics,
      async evaluate(session, goesOn) {
        const loss = await evaluateSft(session, plan.validation, goesOn);
        return loss === null ? null : { 'val/loss': loss };
      },
      prepare: async () => (session, firstBatch) => trainSft(session, plan, firstBatch),
      async measure(session, lastStep) {
        const { 'val/loss': known, ...ofStep } = lastStep;
        const loss = known ?? (session && (await evaluateSft(session, plan.validation, async () => true)));
        const logged = plan.config.logsMetrics ? Object.entries(ofStep).map(([name, x]) => [`sft/${name}`, x]) : [];
        return finiteOnly({
          'train/loss': lastStep['loss'] ?? NaN,
          'val/loss': loss ?? NaN,
          ...(Object.fromEntries(logged) as Record<string, number>),
        });
      },
    }),
  });
