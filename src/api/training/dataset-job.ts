// Shared by jobs that train on rows of an artifact (sft.ts, dpo.ts): the artifact, batching and learning rates.
import { z } from 'zod';
import { SCHEDULER_TYPES, type BatchConfigInput } from '#domain/sft';
import { parseArtifactUri } from '#services/artifacts/artifact-name';
import { evaluation, readEvaluation } from './evaluation-request.ts';
import { boolean, integer, number, union } from '#validation/lax';
import { asSent, readAhead } from '#validation/read-ahead';
import { unknownFields } from '#validation/unknown-fields';
import { parse, refuse, ValidationError } from '#validation/parse';

const BATCHES_MAX = 1_000_000;
const EPOCHS_MAX = 1_000;
const rate = number({ ge: 0, le: 1 });

/** Hundreds of thousands of numbers are read quickly; the schema reads lists with any other items. */
export const rates = readAhead(
  union({ float: rate, 'list[float]': z.array(rate).min(1).max(BATCHES_MAX) }).nullish(),
  (list) =>
    Array.isArray(list) && list.length > 0 && list.length <= BATCHES_MAX && list.every(isPlainRate)
      ? (list as number[])
      : null,
);
const isPlainRate = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;

export const batchSize = union({ auto: z.literal('auto'), int: integer({ ge: 1, le: 65_536 }) }).nullish();

/** In addition to `batch_size` and `learning_rate`, whose defaults differ by job type. */
export const batchFields = {
  lr_scheduler_type: z
    .enum(SCHEDULER_TYPES)
    .nullish()
    .describe(
      'Learning rate schedule after the warm-up, as in Transformers: `constant` (default), or a `linear` or `cosine` decay to 0.',
    ),
  warmup_steps: integer({ ge: 0, le: BATCHES_MAX })
    .nullish()
    .describe('Number of gradient steps over which the learning rate rises from 0. Default 0: warmup_ratio is used.'),
  warmup_ratio: number({ ge: 0, le: 1 })
    .nullish()
    .describe('The warm-up as a fraction of all gradient steps, rounded up; at least one step follows it. Default 0.'),
  epochs: integer({ ge: 1, le: EPOCHS_MAX })
    .nullish()
    .describe('Number of passes over all rows, each in the order of the file. Default 1.'),
  packing: boolean()
    .nullish()
    .describe(
      'Pack the rows of a batch and compute them together; rows do not attend to each other. Affects only speed, not the loss and gradients. Default true.',
    ),
  validation_split: number({ ge: 0, le: 0.5 })
    .nullish()
    .describe(
      'Fraction of the rows to hold out, taken from the end. Their loss becomes the metric `val/loss` of the checkpoint.',
    ),
  eval_steps: integer({ ge: 1, le: BATCHES_MAX })
    .nullish()
    .describe(
      'Number of gradient steps between evaluations of the held-out rows; the last step is always evaluated. The `gradient_step` event of an evaluated step has the metrics, as `val/NAME`. Default: only the checkpoint is evaluated.',
    ),
  early_stopping_patience: integer({ ge: 1, le: BATCHES_MAX })
    .nullish()
    .describe(
      'Number of evaluations without improvement after which the job ends, with a checkpoint, as in Transformers. The last event then has `stopped_early`. Default: the job trains all steps.',
    ),
  early_stopping_threshold: number({ ge: 0 })
    .nullish()
    .describe('Minimum change that counts as an improvement. Default 0.'),
  load_best_model_at_end: boolean()
    .nullish()
    .describe(
      'Give the checkpoint the weights of the best evaluation instead of those of the last step; the last event has `best_gradient_step`. Default: true with early_stopping_patience, else false.',
    ),
};

type BatchFields = { batch_size: typeof batchSize; learning_rate: typeof rates } & typeof batchFields;

export function readBatchConfig(wire: z.output<z.ZodObject<BatchFields>>): BatchConfigInput {
  const { batch_size, learning_rate, validation_split, load_best_model_at_end: loadsBest } = wire;
  const { early_stopping_patience: patience, early_stopping_threshold: threshold } = wire;
  return {
    ...(typeof batch_size === 'number' ? { batchSize: batch_size } : {}),
    ...(learning_rate === undefined || learning_rate === null ? {} : { learningRate: learning_rate }),
    ...(wire.lr_scheduler_type ? { schedulerType: wire.lr_scheduler_type } : {}),
    ...(typeof wire.warmup_steps === 'number' ? { warmupSteps: wire.warmup_steps } : {}),
    ...(typeof wire.warmup_ratio === 'number' ? { warmupRatio: wire.warmup_ratio } : {}),
    ...(typeof wire.epochs === 'number' ? { epochs: wire.epochs } : {}),
    ...(typeof wire.packing === 'boolean' ? { packs: wire.packing } : {}),
    ...(typeof validation_split === 'number' ? { validationSplit: validation_split } : {}),
    ...(typeof wire.eval_steps === 'number' ? { evalSteps: wire.eval_steps } : {}),
    ...(typeof patience === 'number' ? { earlyStoppingPatience: patience } : {}),
    ...(typeof threshold === 'number' ? { earlyStoppingThreshold: threshold } : {}),
    ...(typeof loadsBest === 'boolean' ? { loadsBest } : {}),
  };
}

/** URI of an artifact, whatever it contains. */
const anything = asSent(z.record(z.string(), z.unknown()));

const url = z.string().nullish();

/** Fields in addition to `config`. */
export const datasetJobFields = {
  model_id: z.guid(),
  training_data_url: url.describe(
    '`wandb-artifact:///entity/project/name:version`; version `vN`, `latest` or an alias.',
  ),
  training_folder_url: url.describe('The same as training_data_url, for older clients.'),
  evaluation,
  experimental_config: anything.nullish().describe('Accepted but not used: the warnings list its fields.'),
};

type DatasetJob = z.output<z.ZodObject<typeof datasetJobFields>>;

/** Throws ValidationError. */
export function readDatasetJob<Config extends BatchConfigInput>(
  schema: z.ZodType<DatasetJob & { config?: ReadConfig<Config> | null | undefined }> & {
    shape: object;
  },
  raw: unknown,
) {
  const body = parse(schema, raw, 'body');
  const text = body.training_data_url ?? body.training_folder_url;
  const field = body.training_data_url || !body.training_folder_url ? 'training_data_url' : 'training_folder_url';
  if (text === null || text === undefined) {
    throw new ValidationError([{ type: 'missing', loc: ['body', field], msg: 'Field required', input: raw }]);
  }
  const folder = body.training_folder_url;
  if (body.training_data_url && folder && folder !== text)
    refuse(
      ['body', 'training_folder_url'],
      'is another name for training_data_url, which differs: send one of them',
      folder,
    );
  const data = parseArtifactUri(text);
  if (!data) refuse(['body', field], 'must look like wandb-artifact:///entity/project/name:version', text);
  const { config = {} as Config, warnings: ofConfig = [] } = body.config ?? {};
  refuseTwoSchedules(config);
  refuseUnevaluated(config);
  const experimental = unknownFields({ shape: {} }, body.experimental_config ?? {}, 'experimental_config.');
  const asked = readEvaluation(body.evaluation);
  const warnings = [...unknownFields(schema, body), ...ofConfig, ...experimental, ...asked.warnings];
  return { modelId: body.model_id, data, config, warnings, evaluation: asked.evaluation };
}

export interface ReadConfig<Config> {
  readonly config: Config;
  readonly warnings: readonly string[];
}

/** A list of rates is a schedule. */
function refuseTwoSchedules({ learningRate, schedulerType = 'constant', warmupSteps, warmupRatio }: BatchConfigInput) {
  if (!Array.isArray(learningRate)) return;
  const asked = [
    ['lr_scheduler_type', schedulerType === 'constant' ? null : schedulerType],
    ['warmup_steps', warmupSteps || null],
    ['warmup_ratio', warmupRatio || null],
  ] as const;
  for (const [field, value] of asked) {
    if (value !== null) {
      const message = `learning_rate lists a rate per batch, and ${field} asks for another schedule: send one number as learning_rate, or leave out ${field}`;
      refuse(['body', 'config', field], message, value);
    }
  }
}

/** Names settings of evaluations that would not take place. */
function refuseUnevaluated(config: BatchConfigInput): void {
  const { evalSteps, validationSplit = 0, earlyStoppingPatience: patience, earlyStoppingThreshold: threshold } = config;
  const refuseAlone = (field: string, needed: string, value: unknown) =>
    refuse(['body', 'config', field], `${field} needs ${needed}: send it too, or leave out ${field}`, value);
  if (evalSteps !== undefined && validationSplit === 0)
    refuseAlone('eval_steps', 'held-out rows, validation_split', evalSteps);
  if (evalSteps === undefined) {
    if (patience !== undefined) refuseAlone('early_stopping_patience', 'evaluations, eval_steps', patience);
    if (config.loadsBest) refuseAlone('load_best_model_at_end', 'evaluations, eval_steps', true);
    if (config.bestMetric) refuseAlone('metric_for_best_model', 'evaluations, eval_steps', config.bestMetric);
  }
  if (threshold !== undefined && patience === undefined)
    refuseAlone('early_stopping_threshold', 'early_stopping_patience', threshold);
}
