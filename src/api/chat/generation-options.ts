// Shared fields of generation requests → options of the services. generation-fields.ts defines them.
import type { z } from 'zod';
import type { GenerationOptions, RequestedConstraint, SamplingOptions } from '#services/chat/chat-request';
import type {
  extensionFields,
  formFields,
  modelField,
  samplingFields,
  servingFields,
  showingFields,
  stoppingFields,
  truncationFields,
} from './generation-fields.ts';
import { isEmpty } from './field-decisions.ts';
import { constraintOf, formatConstraint } from './structured-output.ts';
import { refuse, type Complaint } from '#validation/parse';

type Fields = { model: typeof modelField } & typeof samplingFields &
  typeof stoppingFields &
  typeof showingFields &
  typeof formFields &
  typeof truncationFields &
  typeof servingFields;
type Wire = z.output<z.ZodObject<Fields, z.core.$loose>>;

/** The format of an answer. */
export interface AnswerFormat {
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
  /** Whether `token` in logprobs is `token_id:N`. Null: depends on the model. */
  readonly tokensAsTokenIds: boolean | null;
  readonly returnTokenIds: boolean;
  readonly returnWeightVersions: boolean;
  readonly requestId: string | null;
}

export function answerFormat(wire: Wire): AnswerFormat {
  const includeUsage = wire.stream_options ? (wire.stream_options.include_usage ?? true) : false;
  return {
    stream: wire.stream ?? false,
    includeUsage,
    continuousUsage: includeUsage && (wire.stream_options?.continuous_usage_stats ?? false),
    tokensAsTokenIds: wire.return_tokens_as_token_ids ?? null,
    returnTokenIds: wire.return_token_ids ?? false,
    returnWeightVersions: wire.return_weight_versions ?? false,
    requestId: wire.request_id ?? null,
  };
}

export function samplingOptions(
  wire: Partial<Wire>,
  length: Pick<SamplingOptions, 'maxTokens' | 'maxTokensField'>,
): SamplingOptions {
  const stops = wire.stop ?? [];
  return {
    temperature: wire.temperature ?? null,
    topP: wire.top_p ?? null,
    topK: wire.top_k ?? null,
    minP: wire.min_p ?? null,
    repetitionPenalty: wire.repetition_penalty ?? null,
    frequencyPenalty: wire.frequency_penalty ?? 0,
    presencePenalty: wire.presence_penalty ?? 0,
    logitBias: logitBias(wire.logit_bias ?? {}),
    allowedTokenIds: wire.allowed_token_ids ?? null,
    badWords: wire.bad_words ?? [],
    seed: wire.seed ?? null,
    ...length,
    cutToContext: false,
    minTokens: wire.min_tokens ?? 0,
    stop: typeof stops === 'string' ? [stops] : stops,
    stopTokenIds: wire.stop_token_ids ?? [],
    ignoreEos: wire.ignore_eos ?? false,
    thinkingTokensField: 'thinking_token_budget',
    thinkingTokens: (wire.thinking_token_budget ?? -1) === -1 ? null : wire.thinking_token_budget!,
  };
}

/** Null: the most likely tokens are listed. */
export const listedIds = ({ logprob_token_ids: ids }: Wire): readonly number[] | null =>
  ids && ids.length > 0 ? [...new Set(ids)] : null;

/** What would change the probabilities by which beams are compared, or end one early; and the value that asks for nothing. */
const NOT_IN_BEAMS = {
  ...{ allowed_token_ids: null, bad_words: null, logit_bias: null, min_tokens: 0, stop: null },
  ...{ frequency_penalty: 0, presence_penalty: 0, repetition_penalty: 1, thinking_token_budget: -1 },
} as const satisfies Partial<Record<keyof Wire, unknown>>;

/** As vLLM’s, beam search would leave them out without a word. */
function refuseBesideBeams(wire: Wire): void {
  for (const [field, nothing] of Object.entries(NOT_IN_BEAMS))
    if (!isEmpty(wire[field]) && wire[field] !== nothing)
      refuse(
        ['body', field],
        `Beam search ranks texts by the model's own probabilities and cannot follow ${field}. Leave it or use_beam_search out.`,
        wire[field],
      );
}

/** All options except sampling and output. */
export function servingOptions(wire: Wire): Omit<GenerationOptions, 'sampling' | 'output'> {
  if (wire.use_beam_search) refuseBesideBeams(wire);
  return {
    model: wire.model || null,
    n: wire.n ?? 1,
    beamSearch: wire.use_beam_search ? { lengthPenalty: wire.length_penalty ?? 1 } : null,
    constraint: requestedConstraint(wire),
    priority: wire.priority ?? 0,
    cacheSalt: wire.cache_salt ?? null,
  };
}

type Extensions = z.output<z.ZodObject<typeof extensionFields, z.core.$loose>>;

/**
 * What extensionFields say about one answer in an API of another maker. `formatted`: the constraint that the API's own field for the
 * answer's format, `param`, asks for.
 */
export function extensionOptions(
  wire: Extensions,
  formatted: RequestedConstraint | null,
): Pick<GenerationOptions, 'n' | 'beamSearch' | 'constraint' | 'priority' | 'cacheSalt'> {
  const outputs = wire.structured_outputs;
  if (outputs && formatted)
    refuse(
      ['body', 'structured_outputs'],
      `structured_outputs and ${formatted.param} both constrain the answer. Send one of them.`,
      outputs,
    );
  return {
    n: 1,
    beamSearch: null,
    constraint: outputs ? { constraint: constraintOf(outputs), param: 'structured_outputs' } : formatted,
    priority: wire.priority ?? 0,
    cacheSalt: wire.cache_salt ?? null,
  };
}

const BIAS_MAX = 100; // as OpenAI and vLLM

function logitBias(biases: Readonly<Record<string, number>>): [number, number][] {
  return Object.entries(biases).map(([key, bias]) => {
    if (!/^\s*\d{1,9}\s*$/.test(key)) {
      const complaint: Complaint = {
        type: 'int_parsing',
        msg: 'Input should be a valid integer, unable to parse string as an integer',
      };
      refuse(['body', 'logit_bias', key], complaint.msg, key);
    }
    return [Number(key), Math.max(-BIAS_MAX, Math.min(BIAS_MAX, bias))];
  });
}

function requestedConstraint({
  structured_outputs: outputs,
  response_format: format,
}: Wire): GenerationOptions['constraint'] {
  const formatted = format ? formatConstraint(format) : null;
  if (outputs && formatted)
    refuse(
      ['body', 'response_format'],
      'structured_outputs and response_format both constrain the answer. Send one of them.',
      format,
    );
  if (outputs) return { constraint: constraintOf(outputs), param: 'structured_outputs' };
  return formatted && { constraint: formatted, param: 'response_format' };
}
