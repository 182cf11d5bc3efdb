// DPO jobs: wire → domain. Their rows: rows/dpo.ts.
import { z } from 'zod';
import { PREFERENCE_LOSSES, type DpoConfigInput } from '#domain/dpo';
import { HELD_OUT_METRICS } from '#domain/sft';
import { number } from '#validation/lax';
import { refuse } from '#validation/parse';
import { unknownFields } from '#validation/unknown-fields';
import { batchFields, batchSize, datasetJobFields, rates, readBatchConfig, readDatasetJob } from './dataset-job.ts';

const wireConfig = z.looseObject({
  batch_size: batchSize.describe(
    'Number of pairs per gradient step; `auto` is 8. The last batch of an epoch may have fewer.',
  ),
  learning_rate: rates.describe(
    'One number, or one per batch of all epochs. Default: a twentieth of what an SFT job of the same model would take, as 1e-6 and 2e-5 are the ' +
      'defaults of TRL for both. The config of the job has the number.',
  ),
  beta: number({ gt: 0, le: 1_000 })
    .nullish()
    .describe(
      'How strongly the policy is kept close to the reference, which is the checkpoint that the job starts from. Higher is closer. Default 0.1. For ipo it is τ of the paper.',
    ),
  loss_type: z
    .enum(PREFERENCE_LOSSES)
    .nullish()
    .describe(
      'As in TRL: `sigmoid` (default; arXiv:2305.18290 eq. 7), `robust` (arXiv:2403.00409), `hinge` (arXiv:2305.10425), or `ipo` (arXiv:2310.12036, on means over tokens).',
    ),
  label_smoothing: number({ ge: 0, le: 0.49 })
    .nullish()
    .describe('Assumed fraction of pairs with a wrong label, for sigmoid (conservative DPO) and robust. Default 0.'),
  ...batchFields,
  metric_for_best_model: z
    .enum(HELD_OUT_METRICS)
    .nullish()
    .describe('The metric of the held-out pairs by which evaluations are compared. Default `val/loss`.'),
});

const config = wireConfig.transform((wire): { config: DpoConfigInput; warnings: readonly string[] } => {
  const { beta, loss_type: lossType, label_smoothing: labelSmoothing, metric_for_best_model: bestMetric } = wire;
  const config = {
    ...readBatchConfig(wire),
    ...(bestMetric ? { bestMetric } : {}),
    ...(typeof beta === 'number' ? { beta } : {}),
    ...(lossType ? { lossType } : {}),
    ...(typeof labelSmoothing === 'number' ? { labelSmoothing } : {}),
  };
  return { config, warnings: unknownFields(wireConfig, wire, 'config.') };
});

export const createDpoJob = z
  .looseObject({ ...datasetJobFields, config: config.nullish() })
  .meta({ title: 'DpoJobRequest' });

export function readDpoJob(raw: unknown) {
  const job = readDatasetJob<DpoConfigInput>(createDpoJob, raw);
  const { lossType = 'sigmoid', labelSmoothing = 0 } = job.config;
  if (labelSmoothing > 0 && (lossType === 'hinge' || lossType === 'ipo')) {
    const reason = `label_smoothing belongs to the losses sigmoid and robust, not to ${lossType}: leave it out, or send another loss_type`;
    refuse(['body', 'config', 'label_smoothing'], reason, labelSmoothing);
  }
  return job;
}
