// What an engine says it can do, so that services decide by that and never by its name (docs/decisions/0020). Data only: it
// travels over a wire. What is not declared is not asked of the engine, and refused to clients by name.
import type { ConstraintKind } from '#domain/constraint';
import type { SamplingParams } from '#domain/sampling';

/** Of the weights that sample. */
export const PRECISIONS = ['float32', 'bfloat16', 'float16', 'int8', 'w8a8'] as const;
export type Precision = (typeof PRECISIONS)[number];

/**
 * Those that an operator may ask for. float32: the sampler agrees with the trainer to 1e-4. int8: weights of linears and head in
 * blocks of 32 with a scale each, a quarter of the memory to read per token; logprobs are those of the rounded weights. w8a8: a
 * scale per output and one per token, faster the more tokens a step has.
 */
export const SERVING_PRECISIONS = ['float32', 'int8', 'w8a8'] as const satisfies readonly Precision[];
export type ServingPrecision = (typeof SERVING_PRECISIONS)[number];

/** Of the keys and values that a sampler keeps. float16: half the memory for a context, and logprobs of rounded keys and values. */
export type KVCacheDtype = 'float32' | 'float16';

/** Of the frozen weights under an adapter that is trained; int8: those that the sampler has in int8. */
export const TRAINING_PRECISIONS = ['float32', 'int8'] as const satisfies readonly ServingPrecision[];
export type TrainingPrecision = (typeof TRAINING_PRECISIONS)[number];

/** What of a request's sampling an engine may lack. `seed`, `maxTokens` and the tokens that end an answer, none does. */
export const SAMPLING_SWITCHES = [
  'temperature',
  'topP',
  'topK',
  'minP',
  'repetitionPenalty',
  'frequencyPenalty',
  'presencePenalty',
  'logitBias',
  'allowedTokenIds',
  'badWords',
  'minTokens',
  'topLogprobs',
  'logprobTokenIds',
  'thinkingBudget',
] as const satisfies readonly (keyof SamplingParams)[];
export type SamplingSwitch = (typeof SAMPLING_SWITCHES)[number];

/** Of what samples. */
export interface SamplerCapabilities {
  /** The same request with the same seed gives the same tokens, on this process or another. */
  readonly exactReplay: boolean;
  /** Its log-probabilities are those of the weights in float32, to 1e-4 nats. */
  readonly exactLogprobs: boolean;
  /** The kinds of constraints on answers that it keeps to. */
  readonly constraints: readonly ConstraintKind[];
  readonly promptLogprobs: boolean;
  /** Hidden states of prompts. Absent: no. */
  readonly embeddings?: boolean;
  /** Samples with adapters of the output head. Absent: no; of several workers each request goes to one that does. */
  readonly headAdapters?: boolean | undefined;
  readonly precision: Precision;
  readonly unsupportedSampling: readonly SamplingSwitch[];
}

/** Of what trains. */
export interface TrainerCapabilities {
  /** The same rows from the same state give the same bytes, on this process or another. */
  readonly exactTraining: boolean;
  /** As the sampler's. */
  readonly exactLogprobs: boolean;
  /** Trains rows in which sequences share their beginnings. */
  readonly sharedPrefixRows: boolean;
}

/** `exactLogprobs`: both do, so that they agree, and what was sampled is on-policy. */
export type EngineCapabilities = SamplerCapabilities & TrainerCapabilities;
