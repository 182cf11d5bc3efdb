// Bodies of the Tinker protocol as SDK 0.38 sends them. Unknown fields are refused by name.
import { z } from 'zod';
import { RL_LOSSES } from '#domain/tinker';
import { isPlainName, NOT_PLAIN } from '#base/unseen-characters';
import { ownValues } from '#validation/own-values';
import { RANK_MAX } from '#services/tinker/tinker-sessions';

const id = z.string().min(1).max(300);
/** They are returned with every item of a list; the values of real clients have some hundred bytes. */
const METADATA_BYTES_MAX = 65_536;
const metadata = ownValues(z.string().max(200))
  .superRefine(refuseLong)
  .nullish()
  .describe(
    `Your own values: up to ${METADATA_BYTES_MAX} bytes of JSON; null: none. The SDK reads texts only, so other values are returned as JSON text.`,
  );
const seq = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);
const type = z.string().max(50).optional().describe('Name of the operation; optional.');
const RUN_NUMBER = 'Number of the training run within its session, from 0. Repeating a number returns the same run.';
const modelSeq = seq.describe(RUN_NUMBER);
const SAMPLER_NUMBER =
  'Number of the sampling session within its session, from 0. Repeating a number returns the same sampling session.';
const samplingSeq = seq.describe(SAMPLER_NUMBER);
const OPERATION =
  'Sequence number of the operation within its training run or sampling session. Each number is executed only once.';
const operationSeq = seq.describe(OPERATION);
/** One segment of a path, which the SDK writes into addresses as it is: `a?b` would delete `a`. */
const name = z
  .string()
  .regex(/^[^/\s?#%\\]{1,200}$/, 'A name has 1 to 200 characters, and no spaces or / ? # % \\')
  .refine(isPlainName, NOT_PLAIN);
const seed = z
  .int()
  .min(0)
  .max(2 ** 52)
  .nullish();

const TTL_SECONDS_MAX = 10 * 366 * 24 * 3600;
const ttl = z
  .int()
  .min(1)
  .max(TTL_SECONDS_MAX)
  .nullish()
  .describe('Number of seconds after which the weights are deleted; null: never.');

const sdkVersion = z.string().max(100).nullish().describe('Version of the SDK; it has no effect.');
export const clientConfig = z.strictObject({ sdk_version: sdkVersion });

export const createSession = z.strictObject({
  tags: z.array(z.string().max(200)).max(100).nullish().describe('Your own tags for the session; null: none.'),
  user_metadata: metadata,
  sdk_version: sdkVersion,
  project_id: id.nullish().describe('Not stored: there are no projects.'),
  display_name: z.string().max(300).nullish().describe('Display name of the session; it is not stored.'),
  type,
});

export const heartbeat = z.strictObject({ session_id: id, type });
export const finishSession = z.strictObject({
  reason: z
    .looseObject({ type: z.string().max(50).describe('`success`, `errored` or `interrupted`.') })
    .nullish()
    .describe('How the client ended; null: not specified.'),
  detail: z.string().max(10_000).nullish().describe('Description of what went wrong in the client; null: nothing.'),
});

const adamw = z
  .looseObject({ type: z.string().max(50).describe('Only `adamw` is supported.') })
  .nullish()
  .describe('The optimizer; null: AdamW.');

function refuseLong(values: Readonly<Record<string, unknown>>, ctx: z.RefinementCtx): void {
  const size = Buffer.byteLength(JSON.stringify(values));
  if (size <= METADATA_BYTES_MAX) return;
  const most = `and may be at most ${METADATA_BYTES_MAX}. Store large values elsewhere, and their place here`;
  refuse(ctx, `These values are ${size} bytes of JSON, ${most}`);
}

function refuse(ctx: z.RefinementCtx, msg: string): void {
  ctx.addIssue({ code: 'custom', message: msg, params: { complaint: { type: 'value_error', msg } } });
}

/** What the cookbook's recipes ask for with their default loss: the first request in which the loss shows. */
function refuseStability(isAsked: boolean, ctx: z.RefinementCtx): void {
  if (!isAsked) return;
  refuse(
    ctx,
    'The loss stable_reinforce needs stability information of samples, and is not supported: its formula is not published. ' +
      `Set another loss_fn of the recipe (${RL_LOSSES.join(', ')}), or leave out record_stability_info.`,
  );
}

export const createModel = z.strictObject({
  session_id: id,
  model_seq_id: modelSeq,
  base_model: id,
  user_metadata: metadata,
  lora_config: z
    .strictObject({
      rank: z.int().min(1).max(RANK_MAX).default(32).describe('Rank of the LoRA matrices.'),
      seed: seed.describe('Seed of the initial weights: the same seed gives the same weights; null: random.'),
      train_unembed: z.boolean().default(true).describe('Whether to adapt the output layer.'),
      train_mlp: z.boolean().default(true).describe('Whether to adapt the feed-forward layers.'),
      train_attn: z.boolean().default(true).describe('Whether to adapt the attention layers.'),
    })
    .nullish()
    .describe('Settings of the adapter to train; null: the defaults.'),
  optimizer_config: adamw,
  type,
});

export const getInfo = z.strictObject({ model_id: id, type });

/** With model_id, the weights are loaded into that run; without, a new run is created. */
export const loadWeights = z.strictObject({
  session_id: id.nullish(),
  model_seq_id: seq.nullish().describe(RUN_NUMBER),
  model_id: id.nullish().describe('The training run to load into, with seq_id; null: a new one is created.'),
  seq_id: seq.nullish().describe(OPERATION),
  path: z.string().max(600).describe('The saved weights, `tinker://RUN/KIND/NAME`.'),
  optimizer: z.boolean().nullish().describe('Whether to load the optimizer state too; null: no.'),
  base_model: id.nullish().describe('Base model of the saved weights; another one is refused. Null: not specified.'),
  user_metadata: metadata,
  optimizer_config: adamw,
  weights_access_token: z
    .null()
    .optional()
    .describe('Must be null. Weights of other accounts can be read once they are published.'),
  lora_config: z.unknown().optional().describe('No effect: the adapter has the settings it was saved with.'),
  type,
});

const finite = z.number().min(-1e30).max(1e30);

export const optimStep = z.strictObject({
  model_id: id,
  seq_id: operationSeq,
  adam_params: z
    .strictObject({
      learning_rate: finite.default(1e-4).describe('Learning rate.'),
      beta1: z.number().min(0).lt(1).default(0.9).describe('Decay rate of the running mean of the gradients (β₁).'),
      beta2: z
        .number()
        .min(0)
        .lt(1)
        .default(0.95)
        .describe('Decay rate of the running mean of the squared gradients (β₂).'),
      eps: z.number().min(0).max(1).default(1e-12).describe('Added to the denominator to avoid division by zero (ε).'),
      weight_decay: finite.default(0).describe('Weight decay; multiplied by the learning rate at each step.'),
      grad_clip_norm: z
        .number()
        .min(0)
        .max(1e30)
        .default(0)
        .describe('Maximum gradient norm: larger gradients are scaled down to it; 0: no clipping.'),
    })
    .describe('Settings of AdamW for this step.'),
  type,
});

/** Which operation of which run a request is, whatever else it says. */
export const numbered = z.object({ model_id: id, seq_id: operationSeq });

export const saveWeights = z.strictObject({
  model_id: id,
  seq_id: operationSeq,
  path: name.nullish().describe('Name of the saved weights, without a slash; null: the number seq_id is the name.'),
  overwrite: z.boolean().nullish().describe('Whether to replace weights with this name; null: no.'),
  ttl_seconds: ttl,
  user_metadata: metadata,
  type,
});

export const saveForSampler = saveWeights.extend({
  path: name
    .nullish()
    .describe('Name of the saved weights, without a slash; null: they are available only through a sampling session.'),
  sampling_session_seq_id: seq.nullish().describe(`${SAMPLER_NUMBER} Required if path is null.`),
  kind: z.enum(['snapshot', 'inflight']).nullish().describe('No effect: weights are sampled from as they were saved.'),
});

export const saveExternal = z.strictObject({
  model_id: id,
  seq_id: operationSeq,
  path: name.describe('Name of the saved weights, without a slash.'),
  ttl_seconds: ttl,
  /** Encryption is not supported. */
  age_encryption_recipients: z
    .array(z.string())
    .max(0)
    .nullish()
    .describe('Must be empty or null: encryption of files is not supported.'),
  type,
});
export const linkQuery = z.strictObject({ link: z.string() });

export const createSamplingSession = z.strictObject({
  session_id: id,
  sampling_session_seq_id: samplingSeq,
  base_model: id.nullish(),
  model_path: z
    .string()
    .max(600)
    .nullish()
    .describe('Saved weights to sample from, `tinker://RUN/KIND/NAME`; null: the base model.'),
  type,
});

const tokenId = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);
const SAMPLES_MAX = 128;
/** Clients copied to another process count from up to 10^18: json-text.ts keeps such numbers as bigints. */
const isSampleSeq = (value: unknown): value is number | bigint =>
  (Number.isSafeInteger(value) || typeof value === 'bigint') && (value as number | bigint) >= 0;
const sampleSeq = z
  .custom<number | bigint>(isSampleSeq, 'Input should be a whole number, 0 or greater')
  .meta({ type: 'integer', minimum: 0 });

export const sample = z.strictObject({
  num_samples: z.int().min(1).max(SAMPLES_MAX).default(1).describe('Number of samples to draw.'),
  prompt: z
    .strictObject({
      chunks: z
        .array(
          z.strictObject({
            type: z.literal('encoded_text').describe('Only `encoded_text` (token ids) is supported.'),
            tokens: z.array(tokenId).describe('Token ids.'),
          }),
        )
        .min(1)
        .max(10_000)
        .describe('Parts of the prompt, concatenated in order.'),
    })
    .describe('The prompt, as tokens.'),
  sampling_params: z
    .strictObject({
      max_tokens: z
        .int()
        .min(1)
        .max(2 ** 31 - 1)
        .nullish()
        .describe('Maximum number of tokens in a sample; null: as many as fit in the context.'),
      seed: seed.describe('The same seed gives the same samples; null: random.'),
      stop: z
        .union([z.string().min(1), z.array(z.string().min(1)).max(64), z.array(tokenId).max(1_000)])
        .nullish()
        .describe('Texts or token ids at which a sample stops; null: only at the end of the turn.'),
      temperature: z.number().min(0).max(100).default(1),
      top_k: z
        .int()
        .min(-1)
        .max(2 ** 31 - 1)
        .default(-1)
        .describe('Sample from this many of the most likely tokens; -1: from all tokens.'),
      top_p: z.number().gt(0).max(1).default(1),
    })
    .describe('Sampling parameters.'),
  sampling_session_id: id,
  seq_id: sampleSeq.describe(OPERATION),
  prompt_logprobs: z
    .boolean()
    .nullish()
    .describe('Whether to return log-probabilities of the prompt tokens; null: no.'),
  topk_prompt_logprobs: z
    .int()
    .min(0)
    .max(100)
    .nullish()
    .describe('Number of most likely tokens to return at each prompt position; null: none.'),
  topk_sample_logprobs: z
    .int()
    .min(0)
    .max(100)
    .nullish()
    .describe('Number of most likely tokens to return at each position of a sample; null: none.'),
  target_prompt_logprobs: z
    .null()
    .optional()
    .describe('Must be null: log-probabilities of other tokens are not supported.'),
  prompt_alt_tokens_k: z
    .literal(0)
    .nullish()
    .describe('Must be 0 or null: sampling alternatives at prompt positions is not supported.'),
  prompt_logprobs_last_n: z
    .int()
    .min(1)
    .nullish()
    .describe('Return prompt log-probabilities only for the last N tokens; null: for all.'),
  record_stability_info: z
    .boolean()
    .superRefine(refuseStability)
    .nullish()
    .describe('Must be false or null: stability information is not recorded.'),
  type,
});

export const retrieveFuture = z.strictObject({
  request_id: z.string().min(1).max(400),
  allow_metadata_only: z
    .boolean()
    .nullish()
    .describe(
      'Whether the server may return the size of a result instead of the result. It has no effect: results are always returned in full.',
    ),
  model_id: id.nullish(),
});

export const weightsInfo = z.strictObject({
  tinker_path: z.string().max(600),
});
export const ttlBody = z.strictObject({ ttl_seconds: ttl });

const place = z.coerce.number().int().min(0).max(1_000_000);
/** `accessible`: also those that other teams published. */
const access = z
  .enum(['owned', 'accessible'])
  .default('owned')
  .describe('`owned`: only those of your team. `accessible`: also those of teams that published weights.');
const SLICE_MAX = 1_000;
export const sliceQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(SLICE_MAX).default(100),
  offset: place.default(0),
  access_scope: access,
});
export const runsQuery = sliceQuery.extend({
  project_id: z
    .string()
    .superRefine((_, ctx) => refuse(ctx, 'There are no projects here: leave out project_id'))
    .optional()
    .describe('Must be absent: there are no projects.'),
});
/** The SDK asks for all of a run's at once. */
export const ofRunQuery = sliceQuery.extend({
  limit: z.coerce.number().int().min(1).max(SLICE_MAX).default(SLICE_MAX),
});
export const scopeQuery = z.strictObject({ access_scope: access });

/** The SDK's own events, which are not read. */
export const telemetry = z.looseObject({});
