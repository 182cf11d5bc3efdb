// SFT jobs: wire → domain. Their rows: rows/sft.ts.
import { z } from 'zod';
import type { SftConfigInput } from '#domain/sft';
import { boolean } from '#validation/lax';
import { unknownFields } from '#validation/unknown-fields';
import { batchFields, batchSize, datasetJobFields, rates, readBatchConfig, readDatasetJob } from './dataset-job.ts';

const metricLogging = z.looseObject({
  enabled: boolean().nullish().describe('Whether it is enabled.'),
  target_training_step: z
    .unknown()
    .optional()
    .meta({ type: ['integer', 'null'], description: 'Sent by ART. Lines are logged for the step that the job makes.' }),
});

const wireConfig = z.looseObject({
  batch_size: batchSize.describe(
    'Number of rows per gradient step, packed or not; `auto` is 2. The last batch of an epoch may have fewer.',
  ),
  learning_rate: rates.describe(
    'One number, or one per batch of all epochs. Default: by the hidden size of the base model, the lower of 5e-4 · (2000 / hidden)^0.781 and ' +
      '5e-4 · (2000 / hidden)^0.0775 (fitted for LoRA in the cookbook of "LoRA Without Regret"), or 5e-5 where that size is not known. ' +
      'The config of the job has the number.',
  ),
  ...batchFields,
  assistant_turns: z.enum(['all', 'last']).nullish().describe('Which assistant turns are trained on. Default all.'),
  metric_logging: metricLogging
    .nullish()
    .describe(
      'If enabled, each gradient step adds a line to the run named like the model, with the prefix `sft/`, and the metrics of the last step become metrics of the checkpoint, as `sft/NAME`.',
    ),
});

const config = wireConfig.transform((wire): { config: SftConfigInput; warnings: readonly string[] } => {
  const config = {
    ...readBatchConfig(wire),
    ...(wire.assistant_turns ? { assistantTurns: wire.assistant_turns } : {}),
    ...(wire.metric_logging?.enabled ? { logsMetrics: true } : {}),
  };
  const ofLogging = unknownFields(metricLogging, wire.metric_logging ?? {}, 'config.metric_logging.');
  return { config, warnings: [...unknownFields(wireConfig, wire, 'config.'), ...ofLogging] };
});

export const createSftJob = z
  .looseObject({ ...datasetJobFields, config: config.nullish() })
  .meta({ title: 'SftJobRequest' });

export const readSftJob = (raw: unknown) => readDatasetJob<SftConfigInput>(createSftJob, raw);
