// Every bound of the serving engine, with its reason; those that others count on are engine/sampler-limits.ts.
import { totalmem } from 'node:os';
import { SAMPLER_LIMITS } from '../../sampler-limits.ts';
import type { StepLimits } from './scheduler.ts';

export interface InferenceLimits extends StepLimits {
  /** Prompt and completion of a sequence; the model's own limit and the cache may be smaller. */
  readonly contextLength: number;
  /** Keys and values of all sequences. */
  readonly cacheBytes: number;
  /** Computed prompts that are kept for requests to come. */
  readonly prefixCacheBytes: number;
  /** A stream that nobody reads for this long gives its places in the batch to whoever waits, until it is read. */
  readonly unreadMs: number;
  /** Adapters in memory. */
  readonly maxAdapters: number;
}

const GIB = 1024 ** 3;

export const DEFAULT_INFERENCE_LIMITS: InferenceLimits = {
  maxRunning: SAMPLER_LIMITS.sequencesMax,
  maxWaiting: 4096, // several RL batches; what waits longer is better refused
  prefillChunk: 128, // also the grain of the prefix cache; 64 costs 18 % of float32 prefill, 256 gains 3 %
  prefillTokensPerDecode: 512,
  contextLength: 32_768,
  cacheBytes: Math.min(4 * GIB, totalmem() / 4), // leaves room for weights and for training beside us
  prefixCacheBytes: Math.min(GIB, totalmem() / 16),
  unreadMs: SAMPLER_LIMITS.unreadMs,
  maxAdapters: SAMPLER_LIMITS.adaptersMax,
};
