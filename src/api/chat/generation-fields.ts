// Fields that all generation requests share: chat's and completions'. generation-options.ts translates them for the services.
import { z } from 'zod';
import { boolean, integer, list, number, record, union } from '#validation/lax';
import { seed } from '#validation/seed';
import { responseFormat, structuredOutputs } from './structured-output.ts';

export const MAX_CHOICES = 128; // as OpenAI; each is a sequence in the engine
export const MAX_STOPS = 64; // every token is matched against each
const MAX_BAD_WORDS = 128; // as vLLM; each is checked at every token
const MAX_BAD_WORD_CHARACTERS = 256; // each is tokenized twice before the answer begins
const MAX_TOKEN_LIST = 200_000; // more than any vocabulary

const MAX_LISTED_IDS = 128; // as vLLM

/** More values than a body can have. */
const PROMPT_TOKENS_MAX = 250_000;
export const promptTokens = () => list(integer({ ge: 0 }), PROMPT_TOKENS_MAX);

const tokenIds = () => z.array(integer({ ge: 0 })).max(MAX_TOKEN_LIST);
export const modelField = z
  .string()
  .nullish()
  .describe(
    'A base model, entity/project/name[@step], or wandb-artifact:///entity/project/name[:stepN]. Default: the first base model.',
  );

export const samplingFields = {
  n: integer({ ge: 1, le: MAX_CHOICES })
    .nullish()
    .describe('Number of choices to generate. The prompt is computed once for all of them. Default: 1.'),
  temperature: number({ ge: 0 })
    .nullish()
    .describe('Sampling temperature. 0 is greedy. Default: generation_config.json of the model, else 1.'),
  top_p: number({ gt: 0, le: 1 })
    .nullish()
    .describe(
      "Nucleus sampling: sample from the most likely tokens whose probabilities add up to this value. Default: the model's, else 1.",
    ),
  top_k: integer({ ge: -1 })
    .nullish()
    .describe("Sample from this many of the most likely tokens. 0 and -1: off. Default: the model's, else off."),
  min_p: number({ ge: 0, le: 1 })
    .nullish()
    .describe(
      "Minimum probability of a token, as a fraction of the probability of the most likely token. Default: the model's, else 0.",
    ),
  frequency_penalty: number({ ge: -2, le: 2 })
    .nullish()
    .describe("Subtracted from a token's logit for each time it occurs in the answer."),
  presence_penalty: number({ ge: -2, le: 2 })
    .nullish()
    .describe("Subtracted from a token's logit if it occurs in the answer."),
  repetition_penalty: number({ gt: 0 })
    .nullish()
    .describe(
      "Logits of tokens that occur in the prompt or the answer are divided by it (negative logits are multiplied). Default: the model's, else 1.",
    ),
  logit_bias: record(number()).nullish().describe('Token id → number added to its logit, clamped to -100…100.'),
  allowed_token_ids: tokenIds()
    .min(1)
    .nullish()
    .describe('Only these tokens can be sampled; the end-of-sequence token must be listed too.'),
  bad_words: z
    .array(z.string().min(1).max(MAX_BAD_WORD_CHARACTERS))
    .max(MAX_BAD_WORDS)
    .optional()
    .describe('Words that are never generated, with or without a leading space.'),
  seed,
  use_beam_search: boolean()
    .optional()
    .describe(
      'Beam search with n beams instead of n samples. Temperature, top_p, top_k and min_p have no effect; penalties, stop strings and lists of tokens are refused.',
    ),
  length_penalty: number()
    .optional()
    .describe('Beam search: beams are ranked by log-probability / length ^ length_penalty. Default: 1.'),
  logits_processors: z
    .array(
      union({
        str: z.string(),
        LogitsProcessorConstructor: z.strictObject({
          qualname: z.string().describe('Qualified name in the code that defines it.'),
          args: z.array(z.unknown()).nullish().describe('Positional arguments.'),
          kwargs: z.looseObject({}).nullish().describe('Keyword arguments.'),
        }),
      }),
    )
    .nullish()
    .describe('Not supported: anything but an empty list is refused.'),
};

export const stoppingFields = {
  min_tokens: integer({ ge: 0 }).optional().describe('Minimum number of tokens before the answer can end.'),
  stop: union({ str: z.string().min(1), 'list[str]': z.array(z.string().min(1)).max(MAX_STOPS) })
    .nullish()
    .describe('Text at which the answer ends; it is removed from the answer.'),
  stop_token_ids: tokenIds().nullish().describe('Ids of tokens at which the answer ends.'),
  include_stop_str_in_output: boolean()
    .optional()
    .describe('Include the stop text, or the text of the stop token, in the answer.'),
  ignore_eos: boolean().optional().describe("Continue after the model's end-of-sequence token."),
};

export const streamOptions = z.looseObject({
  include_usage: boolean()
    .nullish()
    .describe('Send a last chunk with usage. Default if stream_options is present: true.'),
  continuous_usage_stats: boolean().nullish().describe('Include the usage so far in every chunk.'),
});

export const showingFields = {
  prompt_logprobs: integer({ ge: -1 })
    .nullish()
    .describe('Return log-probabilities of the prompt tokens, with this many alternatives per token.'),
  return_tokens_as_token_ids: boolean()
    .nullish()
    .describe('Represent tokens in logprobs as `token_id:N`. Default: true for trainable models.'),
  return_token_ids: boolean().nullish().describe('Return prompt_token_ids and token_ids.'),
  return_weight_versions: boolean()
    .nullish()
    .describe('Return weight_versions of each choice: which step sampled which tokens, as in vLLM.'),
  skip_special_tokens: boolean().nullish().describe('Remove special tokens from the text. Default: true.'),
  spaces_between_special_tokens: boolean().optional().describe('No effect: tokens are concatenated without spaces.'),
  stream: boolean().nullish().describe('Stream the answer as server-sent events.'),
  stream_options: streamOptions.nullish().describe('Only with stream.'),
};

export const formFields = {
  response_format: responseFormat.nullish().describe('JSON, or JSON that matches a schema. The answer always matches.'),
  structured_outputs: structuredOutputs
    .nullish()
    .describe('Constrains the text with one of json, regex, choice, grammar, json_object or structural_tag.'),
};

/** As large as vLLM's bound, 2^63 - 1, which a double rounds up. */
const COUNT_MAX = 2 ** 63;
const count = integer({ ge: -1 });
/** Numbers beyond 2^53 stay as they were sent, for the message that refuses them. */
const tokenCount = () =>
  z.unknown().transform((value, ctx): number | bigint | null | undefined => {
    const isLarge = (typeof value === 'bigint' || typeof value === 'number') && value > Number.MAX_SAFE_INTEGER;
    if (isLarge && Number(value) <= COUNT_MAX) return BigInt(value);
    const { data, error } = count.nullish().safeParse(value);
    for (const issue of error?.issues ?? []) ctx.issues.push({ ...issue, input: value } as (typeof ctx.issues)[number]);
    return error ? z.NEVER : data;
  });

export const truncationFields = {
  truncate_prompt_tokens: tokenCount()
    .optional()
    .meta({ type: ['integer', 'null'], minimum: -1 })
    .describe('Truncate the prompt to this many tokens; -1: as many as fit in the context.'),
  truncation_side: z
    .enum(['left', 'right'])
    .nullish()
    .describe('left: keep the last tokens, which contain the question; right: keep the first tokens. Default: left.'),
};

export const servingFields = {
  priority: integer()
    .optional()
    .describe(
      'Requests with smaller values are served first. Values other than 0 need the priority scheduling policy.',
    ),
  request_id: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('Becomes the id of the answer unless the request has an x-request-id header.'),
  cache_salt: z.string().nullish().describe('The prompt cache is shared only between requests with the same salt.'),
  user: z.string().nullish().describe('No effect.'),
  kv_transfer_params: z
    .looseObject({})
    .nullish()
    .describe('For disaggregated serving, which is not supported: refused.'),
  vendor_xargs: xargs().describe('Arguments of extensions; unknown names have no effect.'),
  vllm_xargs: xargs().describe('Alias of vendor_xargs.'),
  thinking_token_budget: integer({ ge: -1 })
    .nullish()
    .describe(
      'Maximum number of reasoning tokens, after which the reasoning is ended and the answer begins. -1: no limit. Chat only.',
    ),
  logprob_token_ids: z
    .array(integer({ ge: 0 }))
    .max(MAX_LISTED_IDS)
    .nullish()
    .describe(
      'Ids of tokens whose log-probabilities are returned at every position, in addition to the sampled token and instead of the most likely tokens. Needs logprobs.',
    ),
};

/** vLLM's fields for sampling one answer, in APIs of other makers, which have their own names for the rest. */
export const extensionFields = {
  min_p: samplingFields.min_p,
  frequency_penalty: samplingFields.frequency_penalty,
  presence_penalty: samplingFields.presence_penalty,
  repetition_penalty: samplingFields.repetition_penalty,
  logit_bias: samplingFields.logit_bias,
  allowed_token_ids: samplingFields.allowed_token_ids,
  bad_words: samplingFields.bad_words,
  seed: samplingFields.seed,
  min_tokens: stoppingFields.min_tokens,
  stop_token_ids: stoppingFields.stop_token_ids,
  include_stop_str_in_output: stoppingFields.include_stop_str_in_output,
  ignore_eos: stoppingFields.ignore_eos,
  skip_special_tokens: showingFields.skip_special_tokens,
  structured_outputs: formFields.structured_outputs,
  thinking_token_budget: servingFields.thinking_token_budget,
  priority: servingFields.priority,
  request_id: servingFields.request_id,
  cache_salt: servingFields.cache_salt,
  vendor_xargs: servingFields.vendor_xargs,
  vllm_xargs: servingFields.vllm_xargs,
};

function xargs() {
  const scalar = union({ str: z.string(), float: number() });
  return record(union({ str: z.string(), float: number(), list: z.array(scalar) })).nullish();
}
