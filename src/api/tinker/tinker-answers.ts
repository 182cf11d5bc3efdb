// Answers of the Tinker protocol, for the API reference: they are sent as the routes make them. Fields without a description here
// have the one of field-words.ts.
import { z } from 'zod';

const text = (description: string) => z.string().describe(description);
const texts = (description: string) => z.array(z.string()).describe(description);
const whole = (description: string) => z.int().describe(description);
const flag = (description: string) => z.boolean().describe(description);

const metadata = z.record(z.string(), z.string()).describe('Your own values; those that are not texts, as JSON text.');
const servedName = text('Name of the base model.');
const isLora = z.literal(true).describe('Always true: an adapter is trained, not the base model.');
const loraRank = whole('Rank of the LoRA matrices.');
const runId = text('Id of the training run.');
const savedPath = text('The saved weights: `tinker://RUN/KIND/NAME`.');
const operation = <const T extends string>(...names: T[]) => z.enum(names).describe('Name of the operation.');

export const status = <S extends string>(value: S) => z.object({ status: z.literal(value) });

export const clientConfig = z.object({
  sample_max_concurrent_requests: whole('Maximum number of samples that the SDK requests at the same time.'),
  proto_write_fwdbwd: flag(
    'Always true: SDKs before 0.25 send training data as Protocol Buffers messages, as later ones do.',
  ),
  fwd_via_fwdbwd: flag('Always true: SDKs before 0.25 send forward passes to `forward_backward`, as later ones do.'),
});

export const noSettings = z.object({});

export const capabilities = z.object({
  supported_models: z
    .array(
      z.object({
        model_name: servedName,
        max_context_length: whole('Maximum length of a prompt with its sample, in tokens.'),
        trainable: flag('Whether the model can be trained.'),
        sampleable: flag('Whether the model can be sampled from.'),
      }),
    )
    .describe('The base models, each with its context length in tokens and its supported operations.'),
});

export const session = z.object({
  session_id: z.string(),
  warning_message: text('What the server does not store of the session; absent: nothing. The SDK logs it.').optional(),
});
export const heartbeat = z.object({ type: operation('session_heartbeat') });

export const future = z.object({ request_id: z.string(), model_id: z.string() }).meta({ title: 'TinkerFuture' });
export const sampleFuture = z.object({
  request_id: z.string(),
  sample_sequence_ids: z.array(z.string()).describe('One id per sample.'),
});

export const info = z.object({
  model_id: z.string(),
  model_data: z.object({ model_name: servedName }).describe('The base model of the training run.'),
  model_name: servedName,
  is_lora: isLora,
  lora_rank: loraRank,
});

export const samplingSession = z.object({ sampling_session_id: z.string() });
export const sampler = z.object({
  sampler_id: z.string(),
  base_model: servedName,
  model_path: text(
    'Saved weights that are sampled from, `tinker://RUN/KIND/NAME`; absent: the base model, or unnamed weights.',
  ).optional(),
});

/** JSON results by operation; those of forward_backward and samples are Protocol Buffers messages. */
export const result = z.union([
  z.object({ model_id: runId }).meta({ title: 'A training run was started' }),
  z
    .object({ model_id: runId, path: savedPath, type: operation('load_weights') })
    .meta({ title: 'Weights were loaded into an existing training run' }),
  z
    .object({
      metrics: z.object({ grad_norm: z.number().describe('Norm of the gradients before they were clipped.') }),
    })
    .meta({ title: 'An optimizer step was applied' }),
  z
    .object({
      path: savedPath,
      type: operation('save_weights', 'save_weights_for_sampler', 'save_weights_external'),
    })
    .meta({ title: 'Weights were saved under a name' }),
  z
    .object({
      path: z.null().describe('Always null: the weights have no name.'),
      sampling_session_id: text('Id of the sampling session that samples from the weights.'),
      type: operation('save_weights_for_sampler'),
    })
    .meta({ title: 'Weights were saved without a name' }),
  z
    .object({
      error: text('What went wrong.'),
      category: z
        .enum(['user', 'server'])
        .describe('`user`: the request cannot succeed as it is. `server`: the server failed.'),
    })
    .meta({ title: 'The operation failed' }),
]);

const checkpoint = z
  .object({
    checkpoint_id: text('Kind and name of the saved weights: `KIND/NAME`.'),
    checkpoint_type: z
      .enum(['training', 'sampler', 'external'])
      .describe('`training` (with optimizer state), `sampler` or `external`.'),
    time: text('When the weights were saved.'),
    tinker_path: z.string(),
    size_bytes: whole('Size of the files, in bytes.'),
    public: flag('Whether every team on this server can read them.'),
    user_metadata: metadata,
    expires_at: z.string().nullable().describe('When the weights are deleted; null: never.'),
  })
  .meta({ title: 'TinkerCheckpoint' });

export const run = z
  .object({
    training_run_id: runId,
    base_model: servedName,
    model_owner: text('The entity (team) that owns the training run.'),
    is_lora: isLora,
    lora_rank: loraRank,
    corrupted: z.literal(false).describe('Always false: the server does not report damaged runs.'),
    last_request_time: text('When the training run was last used.'),
    last_checkpoint: checkpoint
      .describe('The newest saved weights with optimizer state; absent if there are none.')
      .optional(),
    last_sampler_checkpoint: checkpoint
      .describe('The newest weights saved for sampling; absent if there are none.')
      .optional(),
    user_metadata: metadata,
  })
  .meta({ title: 'TinkerRun' });

const cursor = z
  .object({
    offset: whole('Number of items skipped.'),
    limit: whole('Maximum number of items in this answer.'),
    total_count: whole('Number of items in the whole list.'),
  })
  .describe('Which part of the list this is.')
  .meta({ title: 'TinkerCursor' });

const EARLY = '. A page of about 4 MB ends early: continue at `offset` and the number of its items.';

export const runs = z.object({ training_runs: z.array(run).describe(`Training runs, newest first${EARLY}`), cursor });
export const checkpoints = z.object({
  checkpoints: z.array(checkpoint).describe(`Saved weights, newest first${EARLY}`),
  cursor,
});

export const weightsInfo = z.object({
  base_model: servedName,
  is_lora: isLora,
  lora_rank: loraRank,
  train_unembed: flag('Whether the output layer is adapted.'),
  train_mlp: flag('Whether the feed-forward layers are adapted.'),
  train_attn: flag('Whether the attention layers are adapted.'),
  name: z.string(),
});

export const sessions = z.object({ sessions: texts('Ids of the sessions, newest first.') });
export const describedSession = z.object({
  training_run_ids: texts('Ids of the training runs of the session.'),
  sampler_ids: texts('Ids of the sampling sessions of the session.'),
  user_metadata: metadata,
});

export const fileUrls = z.object({
  urls: z.record(z.string(), z.string()).describe('URL of each file, by file name. They need no API key.'),
  expires: text('When the URLs expire.'),
});
