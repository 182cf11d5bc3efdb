// Fields that requests for tokens share, whatever they begin with: chat's and completions'. What they mean for the services is
// generation-options.ts.
import { z } from 'zod';
import { boolean, integer, number, record, union } from './lax.ts';
import { seed } from './seed.ts';
import { responseFormat, structuredOutputs } from './structured-output.ts';

export const MAX_CHOICES = 128; // as OpenAI; each is a sequence in the engine
export const MAX_STOPS = 64; // every token is matched against each
const MAX_BAD_WORDS = 128; // as vLLM; each is looked for at every token
const MAX_BAD_WORD_CHARACTERS = 256; // each is encoded twice before the answer begins
const MAX_TOKEN_LIST = 200_000; // more than any vocabulary

const MAX_LISTED_IDS = 128; // as vLLM

const tokenIds = () => z.array(integer({ ge: 0 })).max(MAX_TOKEN_LIST);
const describe = (description: string) => ({ description });

export const modelField = z.string().nullish().meta(describe('A base model, entity/project/name[@step], or wandb-artifact:///entity/project/name[:stepN]. Default: the first base model.')); // prettier-ignore

export const samplingFields = {
  n: integer({ ge: 1, le: MAX_CHOICES }).nullish().meta(describe('Choices. The prompt is computed once for all. Default: 1.')),
  temperature: number({ ge: 0 }).nullish().meta(describe('0 is greedy. Default: generation_config.json of the model, else 1.')),
  top_p: number({ gt: 0, le: 1 }).nullish().meta(describe('Keep the likeliest tokens that together have this probability. Default: the model\'s, else 1.')),
  top_k: integer({ ge: -1 }).nullish().meta(describe('Keep this many of the likeliest tokens. 0 and -1: off. Default: the model\'s, else off.')),
  min_p: number({ ge: 0, le: 1 }).nullish().meta(describe('Keep tokens at least this fraction as likely as the likeliest. Default: the model\'s, else 0.')),
  frequency_penalty: number({ ge: -2, le: 2 }).nullish().meta(describe('Taken off a token\'s logit for each time it is in the answer.')),
  presence_penalty: number({ ge: -2, le: 2 }).nullish().meta(describe('Taken off a token\'s logit if it is in the answer.')),
  repetition_penalty: number({ gt: 0 }).nullish().meta(describe('Logits of tokens in prompt or answer are divided by it (negative ones multiplied). Default: the model\'s, else 1.')),
  logit_bias: record(number()).nullish().meta(describe('Token id → number added to its logit, clamped to -100…100.')),
  allowed_token_ids: tokenIds().min(1).nullish().meta(describe('No other token can come, not even the end.')),
  bad_words: z.array(z.string().min(1).max(MAX_BAD_WORD_CHARACTERS)).max(MAX_BAD_WORDS).optional().meta(describe('Words that cannot come, with or without a space before them.')),
  seed,
  use_beam_search: boolean().optional().meta(describe('n beams instead of n samples; temperature, penalties and stops do not apply.')),
  length_penalty: number().optional().meta(describe('Beam search: beams are ranked by log-probability / length ^ this. Default: 1.')),
  logits_processors: z.array(union({ str: z.string(), LogitsProcessorConstructor: z.strictObject({ qualname: z.string(), args: z.array(z.unknown()).nullish(), kwargs: z.looseObject({}).nullish() }) })).nullish().meta(describe('None are registered here: anything but an empty list is refused.')),
}; // prettier-ignore

export const stoppingFields = {
  min_tokens: integer({ ge: 0 }).optional().meta(describe('Until there are this many, nothing ends the answer.')),
  stop: union({ str: z.string().min(1), 'list[str]': z.array(z.string().min(1)).max(MAX_STOPS) }).nullish().meta(describe('Text that ends the answer and is cut from it.')),
  stop_token_ids: tokenIds().nullish().meta(describe('Tokens that end the answer.')),
  include_stop_str_in_output: boolean().optional().meta(describe('Keep the stop text, or the text of the stop token.')),
  ignore_eos: boolean().optional().meta(describe('The model\'s own end does not end the answer.')),
}; // prettier-ignore

export const showingFields = {
  prompt_logprobs: integer({ ge: -1 }).nullish().meta(describe('Log-probabilities of the prompt\'s tokens, with this many alternatives.')),
  return_tokens_as_token_ids: boolean().nullish().meta(describe('Write tokens in logprobs as `token_id:N`. Default: true on trainable models.')),
  return_token_ids: boolean().nullish().meta(describe('Add prompt_token_ids and token_ids.')),
  skip_special_tokens: boolean().optional().meta(describe('Leave special tokens out of the text. Default: true.')),
  spaces_between_special_tokens: boolean().optional().meta(describe('No effect: tokens are joined as they are, byte by byte.')),
  stream: boolean().nullish().meta(describe('Server-sent events.')),
  stream_options: z.looseObject({
    include_usage: boolean().nullish().meta(describe('A last chunk with usage. Default, once stream_options is there: true.')),
    continuous_usage_stats: boolean().nullish().meta(describe('Usage so far in every chunk.')),
  }).nullish().meta(describe('Only with stream.')),
}; // prettier-ignore

export const formFields = {
  response_format: responseFormat.nullish().meta(describe('JSON, or JSON of a schema. Always kept to.')),
  structured_outputs: structuredOutputs.nullish().meta(describe('One constraint on the text: json, regex, choice, grammar, json_object or structural_tag.')),
}; // prettier-ignore

export const truncationFields = {
  truncate_prompt_tokens: integer({ ge: -1 }).nullish().meta(describe('Keep only the last tokens of the prompt; -1: as many as the context holds.')),
  truncation_side: z.enum(['left', 'right']).nullish().meta(describe('left: the last tokens stay, where the question is; right: the first ones. Default: left.')),
}; // prettier-ignore

export const servingFields = {
  priority: integer().optional().meta(describe('Smaller ones first. Needs the priority scheduling policy unless 0.')),
  request_id: z.string().min(1).max(128).optional().meta(describe('Becomes the id of the answer, unless an x-request-id header came.')),
  cache_salt: z.string().nullish().meta(describe('Computed prompts are shared between requests of equal salt only.')),
  user: z.string().nullish().meta(describe('No effect.')),
  kv_transfer_params: z.looseObject({}).nullish().meta(describe('For disaggregated serving, which this engine does not do: refused.')),
  vendor_xargs: xargs().meta(describe('For extensions; unknown names have no effect.')),
  vllm_xargs: xargs().meta(describe('Alias of vendor_xargs.')),
  thinking_token_budget: integer({ ge: -1 }).nullish().meta(describe('Most tokens of thinking: then it is ended, and the answer begins. -1: no limit. Chat only.')),
  logprob_token_ids: z.array(integer({ ge: 0 })).max(MAX_LISTED_IDS).nullish().meta(describe('Tokens whose log-probabilities are listed at every place, beside the sampled one, instead of the likeliest. Needs logprobs.')),
}; // prettier-ignore

function xargs() {
  const scalar = union({ str: z.string(), float: number() });
  return record(union({ str: z.string(), float: number(), list: z.array(scalar) })).nullish();
}
