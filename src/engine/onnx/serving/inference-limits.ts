// Every bound of the serving engine, with its reason. One place, so that configuration can show and change them.
import { totalmem } from 'node:os';
import type { StepLimits } from './scheduler.ts';

export interface InferenceLimits extends StepLimits {
  /** Prompt and completion of a sequence; the model's own limit and the cache may be smaller. */
  readonly contextLength: number;
  /** Keys and values of all sequences. */
  readonly cacheBytes: number;
  /** Computed prompts that are kept for requests to come. */
  readonly prefixCacheBytes: number;
  /** Adapters in memory. */
  readonly maxAdapters: number;
}

const GIB = 1024 ** 3;

export const DEFAULT_INFERENCE_LIMITS: InferenceLimits = {
  maxRunning: 128, // beyond this a decode step takes longer than it gains
  maxWaiting: 4096, // several RL batches; what waits longer is better refused
  prefillChunk: 128, // also the grain of the prefix cache; 64 costs 18 % of float32 prefill, 256 gains 3 %
  prefillTokensPerDecode: 512,
  contextLength: 32_768,
  cacheBytes: Math.min(4 * GIB, totalmem() / 4), // leaves room for weights and for training beside us
  prefixCacheBytes: Math.min(GIB, totalmem() / 16),
  maxAdapters: 64, // rank 8 on a 0.6B model is 33 MB each
};
