// SFT jobs and their rows: wire ↔ domain.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { SCHEDULER_TYPES, type ReadSftRow, type SftConfigInput, type SftRow } from '#domain/sft';
import { parseArtifactUri } from '#services/artifacts/artifact-name';
import { parseJson } from '../json-body.ts';
import { evaluation, readEvaluation } from './evaluation.ts';
import { boolean, integer, number, union } from './lax.ts';
import { message, tool } from './message.ts';
import { turn } from './trajectory.ts';
import { readAhead } from './read-ahead.ts';
import { unknownFields } from './unknown-fields.ts';
import { parse, refuse, ValidationError } from './validation.ts';

const BATCHES_MAX = 1_000_000;
const EPOCHS_MAX = 1_000;
const rate = number({ ge: 0, le: 1 });

/** Hundreds of thousands of them, read in a moment; what else there may be in a list, the schema reads. */
const rates = readAhead(
  union({ float: rate, 'list[float]': z.array(rate).min(1).max(BATCHES_MAX) }).nullish(),
  (list) =>
    Array.isArray(list) && list.length > 0 && list.length <= BATCHES_MAX && list.every(isPlainRate)
      ? (list as number[])
      : null,
);
const isPlainRate = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 1;

/** Of whatever it holds. */
const anything = readAhead(z.record(z.string(), z.unknown()), (value) => (isObject(value) ? value : null));

const wireConfig = z.looseObject({
  batch_size: union({ auto: z.literal('auto'), int: integer({ ge: 1, le: 65_536 }) })
    .nullish()
    .meta({
      description:
        'Rows per gradient step, whether they are packed or not; `auto` is 2. The last batch of an epoch may have fewer.',
    }),
  learning_rate: rates.meta({
    description:
      'One number, or one per batch of all epochs. Default: by the hidden size of the base model, the lower of 5e-4 · (2000 / hidden)^0.781 and ' +
      '5e-4 · (2000 / hidden)^0.0775 (fitted for LoRA in the cookbook of "LoRA Without Regret"), or 5e-5 where that size is not known. ' +
      'The config of the job has the number.',
  }),
  lr_scheduler_type: z.enum(SCHEDULER_TYPES).nullish().meta({
    description:
      'How the learning rate goes on after the warm-up, as in Transformers: `constant` (default), or down to 0 as `linear` or `cosine`.',
  }),
  warmup_steps: integer({ ge: 0, le: BATCHES_MAX }).nullish().meta({
    description: 'Gradient steps over which the learning rate rises from 0. Default 0: warmup_ratio counts.',
  }),
  warmup_ratio: number({ ge: 0, le: 1 }).nullish().meta({
    description:
      'The same as a fraction of all gradient steps, rounded up; it leaves at least one step behind it. Default 0.',
  }),
  epochs: integer({ ge: 1, le: EPOCHS_MAX }).nullish().meta({
    description: 'How often all rows are trained, each time in the order of the file. Default 1.',
  }),
  packing: boolean().nullish().meta({
    description:
      'Rows of a batch are computed together, without seeing each other. Loss and gradients do not depend on it, speed does. Default true.',
  }),
  assistant_turns: z
    .enum(['all', 'last'])
    .nullish()
    .meta({ description: 'Which assistant turns are trained; default all.' }),
  validation_split: number({ ge: 0, le: 0.5 }).nullish().meta({
    description:
      'Fraction of the rows, the last ones, that is held out: its loss becomes the metric `val/loss` of the checkpoint.',
  }),
  metric_logging: z.looseObject({ enabled: boolean().nullish() }).nullish().meta({
    description:
      'Enabled: each gradient step becomes a line of the run that is named like the model, below `sft/`, and the metrics of the last one become metrics of the checkpoint, as `sft/NAME`.',
  }),
});

const config = wireConfig.transform((wire): { config: SftConfigInput; warnings: readonly string[] } => {
  const { batch_size: batchSize, learning_rate: learningRate, validation_split: validationSplit } = wire;
  const warnings = unknownFields(wireConfig, wire, 'config.');
  const config = {
    ...(typeof batchSize === 'number' ? { batchSize } : {}),
    ...(learningRate === undefined || learningRate === null ? {} : { learningRate }),
    ...(wire.lr_scheduler_type ? { schedulerType: wire.lr_scheduler_type } : {}),
    ...(typeof wire.warmup_steps === 'number' ? { warmupSteps: wire.warmup_steps } : {}),
    ...(typeof wire.warmup_ratio === 'number' ? { warmupRatio: wire.warmup_ratio } : {}),
    ...(typeof wire.epochs === 'number' ? { epochs: wire.epochs } : {}),
    ...(typeof wire.packing === 'boolean' ? { packs: wire.packing } : {}),
    ...(wire.assistant_turns ? { assistantTurns: wire.assistant_turns } : {}),
    ...(typeof validationSplit === 'number' ? { validationSplit } : {}),
    ...(wire.metric_logging?.enabled ? { logsMetrics: true } : {}),
  };
  return { config, warnings };
});

const url = z.string().nullish();

export const createSftJob = z.looseObject({
  model_id: z.guid(),
  training_data_url: url.meta({
    description: '`wandb-artifact:///entity/project/name:version`; version `vN`, `latest` or an alias.',
  }),
  training_folder_url: url.meta({ description: 'The same, as older clients call it.' }),
  config: config.nullish(),
  evaluation,
  experimental_config: anything
    .nullish()
    .meta({ description: 'Accepted and not used: its fields are named in the warnings.' }),
});

export function readSftJob(raw: unknown) {
  const body = parse(createSftJob, raw, 'body');
  const text = body.training_data_url ?? body.training_folder_url;
  const field = body.training_data_url || !body.training_folder_url ? 'training_data_url' : 'training_folder_url';
  if (text === null || text === undefined) {
    throw new ValidationError([{ type: 'missing', loc: ['body', field], msg: 'Field required', input: raw }]);
  }
  const data = parseArtifactUri(text);
  if (!data) refuse(['body', field], 'must look like wandb-artifact:///entity/project/name:version', text);
  const { config = {}, warnings: ofConfig = [] } = body.config ?? {};
  refuseTwoSchedules(config);
  const experimental = unknownFields({ shape: {} }, body.experimental_config ?? {}, 'experimental_config.');
  const asked = readEvaluation(body.evaluation);
  const warnings = [...unknownFields(createSftJob, body), ...ofConfig, ...experimental, ...asked.warnings];
  return { modelId: body.model_id, data, config, warnings, evaluation: asked.evaluation };
}

/** Listed rates are a schedule. */
function refuseTwoSchedules({ learningRate, schedulerType = 'constant', warmupSteps, warmupRatio }: SftConfigInput) {
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

const tools = z.array(tool).nullish();

/** `{"messages": […], "tools": […]?}`, or a trajectory whose Choices count as messages. */
const row = z.union([
  z.looseObject({ messages: z.array(message).min(1), tools }),
  z
    .looseObject({ messages_and_choices: z.array(turn).min(1), tools })
    .transform(({ messages_and_choices, ...rest }) => ({
      ...rest,
      messages: messages_and_choices.map((t) => t.message),
    })),
]);

export function readSftLine(text: string): ReadSftRow {
  try {
    const value = parseJson(text);
    return checked(parse(rowSchemaOf(value), value, 'body'));
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return { problem: error.items.slice(0, 3).map(describe).join('; ') };
  }
}

/** The alternative that the row means, so that only its faults are told. */
const rowSchemaOf = (value: unknown) =>
  isObject(value) && 'messages_and_choices' in value ? row.options[1] : row.options[0];

function describe({ type, loc, msg, ctx }: ValidationError['items'][number]): string {
  if (type === 'json_invalid') return `is not JSON: ${String(ctx?.['error'])} at character ${loc[1]}`;
  return loc.length > 1 ? `${loc.slice(1).join('.')}: ${msg}` : msg;
}

function checked({ messages, tools: given }: z.output<typeof row>): ReadSftRow {
  if (messages.at(-1)!.role !== 'assistant') {
    return {
      problem: `the last message must be an assistant's: it is what is learnt, and this one is ${messages.at(-1)!.role}'s`,
    };
  }
  const result: SftRow = { messages, tools: given && given.length > 0 ? given : null };
  return { row: result };
}
