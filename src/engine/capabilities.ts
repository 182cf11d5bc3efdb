// What an engine declares it can do, so that services decide by capability and never by the engine's name (docs/decisions/0020).
// Plain data, because it is sent over the wire. A feature that is not declared is refused to clients by name and never requested.
import type { ConstraintKind } from '#domain/constraint';
import type { SamplingParams } from '#domain/sampling';

/** The number formats of the weights used for sampling. */
export const PRECISIONS = ['float32', 'bfloat16', 'float16', 'int8', 'w8a8'] as const;
export type Precision = (typeof PRECISIONS)[number];

/**
 * Precisions that an operator may request. float32: the sampler agrees with the trainer to 1e-4. int8: weights of the linear layers
 * and the head in blocks of 32 with one scale each, a quarter of the memory to read per token; logprobs are those of the rounded
 * weights. w8a8: one scale per output and one per token; it gains more the more tokens a step has.
 */
export const SERVING_PRECISIONS = ['float32', 'int8', 'w8a8'] as const satisfies readonly Precision[];
export type ServingPrecision = (typeof SERVING_PRECISIONS)[number];

/** The number format of the keys and values in a sampler's cache. float16: half the memory per context; logprobs are those of the rounded values. */
export type KVCacheDtype = 'float32' | 'float16';

/** The number formats of the frozen weights under a trained adapter. int8: for the weights that the sampler also keeps in int8. */
export const TRAINING_PRECISIONS = ['float32', 'int8'] as const satisfies readonly ServingPrecision[];
export type TrainingPrecision = (typeof TRAINING_PRECISIONS)[number];

/** Sampling options that an engine may lack. Every engine has `seed`, `maxTokens` and stop tokens. */
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

/** Capabilities of a sampler. */
export interface SamplerCapabilities {
  /** The same request with the same seed returns the same tokens, in this process or another. */
  readonly exactReplay: boolean;
  /** Its log-probabilities are those of the weights in float32, to 1e-4 nats. */
  readonly exactLogprobs: boolean;
  /** The kinds of constraints on answers that it enforces. */
  readonly constraints: readonly ConstraintKind[];
  readonly promptLogprobs: boolean;
  /** Returns hidden states of prompts. Absent: no. */
  readonly embeddings?: boolean;
  /** Samples with adapters on the output head. Absent: no. With several workers, each request goes to one that can. */
  readonly headAdapters?: boolean | undefined;
  readonly precision: Precision;
  readonly unsupportedSampling: readonly SamplingSwitch[];
}

/** Capabilities of a trainer. */
export interface TrainerCapabilities {
  /** The same rows from the same state produce the same bytes, in this process or another. */
  readonly exactTraining: boolean;
  /** As for the sampler. */
  readonly exactLogprobs: boolean;
  /** Trains rows in which sequences share a prefix. */
  readonly sharedPrefixRows: boolean;
  /** Saves gradients that no step has applied, and goes on from them: others may use the trainer in the middle of a step. */
  readonly keepsGradients: boolean;
}

/** `exactLogprobs`: both engines have it, so they agree and sampled tokens are on-policy. */
export type EngineCapabilities = SamplerCapabilities & TrainerCapabilities;
