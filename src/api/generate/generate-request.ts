// A request in the format of vLLM's POST /inference/v1/generate → CompletionRequest, and the format of the answer. Unlike elsewhere, a
// missing sampling parameter is vLLM's own default and not the model's: tokens are sampled from the model's own distribution unless the
// client says otherwise.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import type { CompletionRequest } from '#services/chat/chat-request';
import { boolean, integer } from '#validation/lax';
import { parse, refuse } from '#validation/parse';
import { refuseForbiddenOfTokens } from '../chat/chat-rules.ts';
import { applyDecisions } from '../chat/field-decisions.ts';
import { shapeWarnings } from '../chat/nested-fields.ts';
import {
  formFields,
  modelField,
  promptTokens,
  samplingFields,
  servingFields,
  showingFields,
  stoppingFields,
} from '../chat/generation-fields.ts';
import {
  answerFormat,
  listedIds,
  samplingOptions,
  servingOptions,
  type AnswerFormat,
} from '../chat/generation-options.ts';
import { generateDecisions, samplingDecisions } from './generate-decisions.ts';

export interface GenerateFormat extends AnswerFormat {
  /** How many log-probabilities are listed for each token, its own first. null: none; −1: of the whole vocabulary. */
  readonly logprobs: number | null;
  /** The others are the most likely ones, and not those that the client chose. */
  readonly ranksLogprobs: boolean;
  readonly promptLogprobs: boolean;
  /** Whether the answer also has text. */
  readonly outputMode: 'tokens' | 'text';
  readonly warnings: readonly string[];
}

const {
  use_beam_search: _,
  length_penalty: __,
  logits_processors: ___,
  bad_words: badWords,
  ...sampled
} = samplingFields;

export const samplingParamsSchema = z
  .looseObject({
    ...sampled,
    temperature: sampled.temperature.describe(
      "Sampling temperature. 0 is greedy. Default: 1, whatever the model's generation_config.json says.",
    ),
    top_p: sampled.top_p.describe(
      'Nucleus sampling: sample from the most likely tokens whose probabilities add up to this value. Default: 1.',
    ),
    top_k: sampled.top_k.describe('Sample from this many of the most likely tokens. Default: 0, which is off.'),
    min_p: sampled.min_p.describe(
      'Minimum probability of a token, as a fraction of the probability of the most likely token. Default: 0.',
    ),
    repetition_penalty: sampled.repetition_penalty.describe(
      'Logits of tokens that occur in the prompt or the answer are divided by it (negative logits are multiplied). Default: 1.',
    ),
    bad_words: z
      .preprocess((words) => words ?? [], badWords.unwrap())
      .optional()
      .describe('Words that are never generated, with or without a leading space.'),
    ...stoppingFields,
    stop: stoppingFields.stop.describe('Text at which the answer ends. token_ids has all of its tokens.'),
    max_tokens: integer({ ge: 1 })
      .nullish()
      .describe(
        "Maximum number of tokens in an answer, which also ends where the context does. Default: the model's max_new_tokens, else the rest of the context.",
      ),
    logprobs: integer({ ge: -1 })
      .nullish()
      .describe(
        'List so many log-probabilities for each token: its own, then those of the most likely others. -1: the whole vocabulary.',
      ),
    prompt_logprobs: showingFields.prompt_logprobs,
    logprob_token_ids: servingFields.logprob_token_ids.describe(
      "Ids of tokens whose log-probabilities are listed at every position after the sampled one's, instead of the most likely ones.",
    ),
    detokenize: boolean()
      .optional()
      .describe('false: the text is not needed, so that neither stop nor output_mode text may be sent.'),
    skip_special_tokens: showingFields.skip_special_tokens,
    spaces_between_special_tokens: showingFields.spaces_between_special_tokens,
    structured_outputs: formFields.structured_outputs,
    thinking_token_budget: servingFields.thinking_token_budget.describe(
      'Maximum number of reasoning tokens, after which the reasoning is ended and the answer begins. -1: no limit.',
    ),
  })
  .meta({ title: 'SamplingParams' });

export const generateRequestSchema = z
  .looseObject({
    model: modelField,
    token_ids: promptTokens().describe("Ids of the prompt's tokens. Nothing is added to them."),
    sampling_params: samplingParamsSchema.describe('How tokens are sampled, and where the answer ends.'),
    reasoning_ended: boolean()
      .nullish()
      .describe(
        'Whether reasoning is over before the first token: a constraint holds only after it. Default: as the end of the prompt says.',
      ),
    return_token_ids: boolean().nullish().describe('Return prompt_token_ids; in streams, in the first chunk.'),
    output_mode: z
      .enum(['tokens', 'text'])
      .optional()
      .describe(
        'text: the answer also has text, and its log-probabilities name tokens by their text. Default: tokens.',
      ),
    stream: showingFields.stream,
    stream_options: showingFields.stream_options,
    request_id: servingFields.request_id.describe(
      'Becomes part of the request_id of the answer unless the request has an x-request-id header.',
    ),
    cache_salt: servingFields.cache_salt,
    priority: servingFields.priority,
  })
  .meta({ title: 'GenerateRequest' });

export const GENERATE_DECISIONS = generateDecisions(Object.keys(samplingParamsSchema.shape));
export const SAMPLING_DECISIONS = samplingDecisions(
  Object.keys(generateRequestSchema.shape).filter((field) => field !== 'return_token_ids'),
);

type Wire = z.output<typeof generateRequestSchema>;

export function parseGenerateRequest(body: unknown): { request: CompletionRequest; format: GenerateFormat } {
  if (isObject(body))
    refuseForbiddenOfTokens({ ...(isObject(body['sampling_params']) ? body['sampling_params'] : {}), ...body });
  const wire = parse(generateRequestSchema, body, 'body');
  const { sampling_params: params } = wire;
  const warnings = [
    ...applyDecisions(generateRequestSchema, GENERATE_DECISIONS, wire),
    ...applyDecisions(samplingParamsSchema, SAMPLING_DECISIONS, params, ['sampling_params']),
    ...shapeWarnings({ stream_options: wire.stream_options, structured_outputs: params.structured_outputs }),
  ];
  refuseWhatCannotBe(wire);
  const listed = listedIds(params);
  const logprobs = listed ? -1 : (params.logprobs ?? null);
  return {
    request: toRequest(wire, logprobs),
    format: {
      ...answerFormat(wire),
      logprobs,
      ranksLogprobs: listed === null,
      promptLogprobs: (params.prompt_logprobs ?? null) !== null,
      outputMode: wire.output_mode ?? 'tokens',
      warnings,
    },
  };
}

function toRequest(wire: Wire, logprobs: number | null): CompletionRequest {
  const { sampling_params: params } = wire;
  const listed = listedIds(params);
  const { model, priority, cache_salt } = wire;
  const serving = servingOptions({
    model,
    priority,
    cache_salt,
    n: params.n,
    structured_outputs: params.structured_outputs,
  });
  const sampling = samplingOptions(params, {
    maxTokens: params.max_tokens ?? null,
    maxTokensField: 'max_tokens',
  });
  return {
    ...serving,
    prompts: [wire.token_ids],
    promptName: 'token_ids',
    thinking: { hasEnded: wire.reasoning_ended ?? null },
    addSpecialTokens: false,
    truncation: { truncatePromptTokens: null, truncationSide: 'left' },
    sampling: {
      ...sampling,
      temperature: sampling.temperature ?? 1,
      topP: sampling.topP ?? 1,
      topK: sampling.topK ?? 0,
      minP: sampling.minP ?? 0,
      repetitionPenalty: sampling.repetitionPenalty ?? 1,
      cutToContext: true,
    },
    output: {
      logprobs: logprobs !== null,
      // A token's own is the first of its list, so that a list of one needs no others.
      topLogprobs: listed || logprobs === 1 ? 0 : (logprobs ?? 0),
      topLogprobsField: 'logprobs',
      logprobTokenIds: listed,
      promptLogprobs: params.prompt_logprobs ?? null,
      echo: false,
      includeStop: params.include_stop_str_in_output ?? false,
      skipSpecialTokens: params.skip_special_tokens ?? true,
      includeReasoning: true,
    },
    promptOnly: false,
    bestOf: serving.n,
  };
}

function refuseWhatCannotBe({
  token_ids: tokens,
  output_mode: mode,
  sampling_params: { detokenize, stop, extra_args: extra },
}: Wire): void {
  if (tokens.length === 0) refuse(['body', 'token_ids'], 'Send at least one token.', tokens);
  const { kv_transfer_params: ofCache, ec_transfer_params: ofEncoder } = isObject(extra) ? extra : {};
  if (ofCache || ofEncoder)
    refuse(
      ['body', 'sampling_params', 'extra_args'],
      'KV caches are not transferred between servers here. Leave the transfer parameters out.',
      extra,
    );
  if (detokenize !== false) return;
  if (mode === 'text')
    refuse(['body', 'output_mode'], "output_mode='text' requires sampling_params.detokenize to be true.", mode);
  if ((stop ?? []).length > 0)
    refuse(
      ['body', 'sampling_params', 'stop'],
      'Stop texts are found in the text of an answer. Leave detokenize out, or send stop_token_ids.',
      stop,
    );
}
