// Models, checkpoints and the OpenAI model list: wire ↔ domain.
import { z } from 'zod';
import { isPlainName, NOT_PLAIN } from '#base/unseen-characters';
import type { Checkpoint } from '#domain/checkpoint';
import type { Model } from '#domain/model';
import type { ModelLabels } from '#domain/model-labels';
import { isGreaterBetter, type SavePolicy } from '#domain/save-policy';
import type { CheckpointLora } from '#services/models/checkpoint-lora';
import type { Registration } from '#services/models/models';
import { envelope } from '../http/listing.ts';
import { boolean, integer } from '#validation/lax';
import { lora, loraResponse } from './lora.ts';
import { labelFields, toLabelFields } from './model-labels.ts';
import { unknownFields, warnings } from '#validation/unknown-fields';
import { parse, refuse } from '#validation/parse';

const STEPS_MAX = 10_000; // limits the size of one transaction

/** Parts of the name `entity/project/name:stepN`. */
const namePart = z
  .string()
  .min(1)
  .max(128)
  .superRefine((value, ctx) => {
    const isWritable = /^[^/:@\s]+$/.test(value);
    if (isWritable && isPlainName(value)) return;
    const msg = isWritable
      ? `Value error, ${NOT_PLAIN}.`
      : 'Value error, must not contain slashes, colons, @ or spaces: it is part of the name that chat requests use.';
    ctx.addIssue({
      code: 'custom',
      message: msg,
      params: { complaint: { type: 'value_error', msg, ctx: { error: {} } } },
    });
  });

const savePolicy = z
  .looseObject({
    save_total_limit: integer({ ge: 1, le: STEPS_MAX }).describe(
      'Maximum number of checkpoints to keep when a job creates a new one: the newest, the best by metric_for_best_model, then the newest of the rest. Checkpoints in use are kept in addition.',
    ),
    metric_for_best_model: z
      .string()
      .min(1)
      .max(200)
      .nullish()
      .describe(
        'The checkpoint metric that determines the best one, such as `val/reward` or `val/loss`. Default: only age counts.',
      ),
    greater_is_better: boolean()
      .nullish()
      .describe(
        'Whether a higher value of the metric is better. Default: false for a metric whose name ends with `loss`, else true.',
      ),
  })
  .describe(
    'Which checkpoints are kept, with the field names of Transformers. Null: all are kept until they are deleted.',
  );

const wireModel = z.looseObject({
  entity: namePart.nullish().describe('Default: the entity of the key.'),
  project: namePart,
  name: namePart.describe('Name of the model; unique within the project.'),
  base_model: z.string().min(1),
  return_existing: boolean()
    .default(false)
    .describe('If a model with this name exists, return it instead of a 409 error.'),
  from_checkpoint: z
    .string()
    .min(1)
    .nullish()
    .describe('Fork: step 0 is a copy of this checkpoint, `entity/project/name@N`, with its optimizer state.'),
  save_policy: savePolicy.nullish(),
  lora: lora
    .nullish()
    .describe(
      'Settings of the adapter to train, with the field names of PEFT. They cannot be changed later; a fork has those of its source.',
    ),
});

const readSavePolicy = (wire: z.output<typeof savePolicy>): SavePolicy => ({
  totalLimit: wire.save_total_limit,
  bestMetric: wire.metric_for_best_model ?? null,
  greaterIsBetter: wire.greater_is_better ?? isGreaterBetter(wire.metric_for_best_model ?? ''),
});

export const changeModel = z.looseObject({ save_policy: savePolicy.nullable() }).meta({ title: 'ChangeModelRequest' });

export function readChangeModel(raw: unknown): { savePolicy: SavePolicy | null; warnings: readonly string[] } {
  const read = parse(changeModel, raw, 'body');
  return {
    savePolicy: read.save_policy && readSavePolicy(read.save_policy),
    warnings: [
      ...unknownFields(changeModel, read),
      ...(read.save_policy ? unknownFields(savePolicy, read.save_policy, 'save_policy.') : []),
    ],
  };
}

export const createModel = wireModel.transform((wire): { registration: Registration; warnings: readonly string[] } => ({
  warnings: [
    ...unknownFields(wireModel, wire),
    ...(wire.lora?.warnings ?? []),
    ...(wire.save_policy ? unknownFields(savePolicy, wire.save_policy, 'save_policy.') : []),
  ],
  registration: {
    entity: wire.entity ?? null,
    project: wire.project,
    name: wire.name,
    baseModel: wire.base_model,
    returnExisting: wire.return_existing,
    fromCheckpoint: wire.from_checkpoint ?? null,
    ...(wire.lora ? { lora: wire.lora.lora } : {}),
    ...(wire.save_policy ? { savePolicy: readSavePolicy(wire.save_policy) } : {}),
  },
}));

export function readCreateModel(raw: unknown): z.output<typeof createModel> {
  const read = parse(createModel, raw, 'body');
  const { lora: asked, fromCheckpoint } = read.registration;
  if (asked && fromCheckpoint !== null) {
    refuse(['body', 'lora'], 'a fork has the adapter of its source: leave out lora, or from_checkpoint', asked);
  }
  return read;
}

export const modelResponse = z
  .object({
    id: z.guid(),
    entity: z.string(),
    project: z.string(),
    name: z.string(),
    base_model: z.string(),
    run_id: z.string().nullable(),
  })
  .meta({ title: 'Model' });

export const toModelResponse = (model: Model): z.input<typeof modelResponse> => ({
  id: model.id,
  entity: model.entity,
  project: model.project,
  name: model.name,
  base_model: model.baseModel,
  run_id: model.runId,
});

export const oneModelResponse = modelResponse.extend({
  lora: loraResponse.nullable().describe('LoRA settings of the latest checkpoint; null: all checkpoints were deleted.'),
  save_policy: z
    .object({
      save_total_limit: z.int(),
      metric_for_best_model: z.string().nullable(),
      greater_is_better: z.boolean(),
    })
    .nullable()
    .describe('Which checkpoints are kept when a job creates a new one; null: all are kept.'),
  ...labelFields,
  trained_online: z.boolean().describe('Whether the server makes jobs from its episodes: GET …/online-training.'),
});

export const changedModel = oneModelResponse.extend({ warnings });

export const toOneModelResponse = (
  model: Model,
  {
    lora: of,
    policy,
    labels,
    trainedOnline,
  }: {
    readonly lora: CheckpointLora | null;
    readonly policy: SavePolicy | null;
    readonly labels: ModelLabels;
    readonly trainedOnline: boolean;
  },
): z.input<typeof oneModelResponse> => ({
  ...toModelResponse(model),
  lora: of && { ...of, target_modules: [...of.target_modules] },
  save_policy: policy && {
    save_total_limit: policy.totalLimit,
    metric_for_best_model: policy.bestMetric,
    greater_is_better: policy.greaterIsBetter,
  },
  ...toLabelFields(labels),
  trained_online: trainedOnline,
});

export const createdModel = modelResponse.extend({ warnings });

export const deletedModel = z
  .object({
    model_id: z.guid(),
    deleted_checkpoints: z.int().describe('Number of checkpoints deleted with it.'),
    deleted_run: z.boolean().describe('Whether its run was deleted with it.'),
  })
  .meta({ title: 'DeletedModel' });

export const checkpointResponse = z
  .object({
    id: z.guid(),
    step: z.int(),
    created_at: z.iso.datetime(),
    metrics: z.record(z.string(), z.number()),
  })
  .meta({ title: 'Checkpoint' });

export const toCheckpointResponse = ({
  id,
  step,
  metrics,
  createdAtMs,
}: Checkpoint): z.input<typeof checkpointResponse> => ({
  id,
  step,
  created_at: new Date(createdAtMs).toISOString(),
  metrics: { ...metrics },
});

export const deleteCheckpoints = z
  .looseObject({ steps: z.array(integer({ ge: 0 })).max(STEPS_MAX) })
  .meta({ title: 'DeleteCheckpointsRequest' });

export const deletedCheckpoints = z
  .object({ deleted_count: z.int(), not_found_steps: z.array(z.int()).describe('Steps that do not exist.') })
  .meta({ title: 'DeletedCheckpoints' });

export const openAIModel = z
  .looseObject({
    id: z.string(),
    object: z.literal('model'),
    created: z.int(),
    owned_by: z.string().describe('Owner of the model.'),
    max_model_len: z.int(),
    type: z.literal('model').describe('With this and the fields below, Anthropic’s clients read the same answer.'),
    display_name: z.string().describe('The `id`.'),
    created_at: z.iso.datetime(),
    lifecycle: z.literal('active').describe('Always `active`: models that cannot be called are not listed.'),
    max_input_tokens: z.int().describe('The context, as `max_model_len`.'),
    max_tokens: z.int().describe('The context, which prompt and answer share.'),
    allowed_fallback_models: z.array(z.string()).describe('Always empty: `fallbacks` is not supported.'),
  })
  .meta({ title: 'OpenAIModel' });

export const openAIModelList = envelope(openAIModel).meta({ title: 'OpenAIModelList' });
