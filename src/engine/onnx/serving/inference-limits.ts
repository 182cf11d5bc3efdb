// Every bound of the serving engine, with its reason; those that others count on are engine/sampler-limits.ts.
import { SAMPLER_LIMITS } from '../../sampler-limits.ts';
import { machineMemory } from '../machine-memory.ts';
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
  readonly adapterBytes: number;
}

const GIB = 1024 ** 3;

/** Where nobody names one. */
const DEFAULT_CONTEXT_LENGTH = 32_768;
/** Leaves room for weights and for training beside it. */
export const defaultCacheBytes = (memoryBytes: number): number => Math.min(4 * GIB, memoryBytes / 4);
export const defaultPrefixCacheBytes = (memoryBytes: number): number => Math.min(GIB, memoryBytes / 16);

export const defaultAdapterBytes = (memoryBytes: number): number => Math.min(2 * GIB, memoryBytes / 16);

export const DEFAULT_INFERENCE_LIMITS: InferenceLimits = {
  maxRunning: SAMPLER_LIMITS.sequencesMax,
  maxWaiting: 4096, // several RL batches; what waits longer is better refused
  prefillChunk: 128, // also the grain of the prefix cache; 64 costs 18 % of float32 prefill, 256 gains 3 %
  prefillTokensPerDecode: 512,
  contextLength: DEFAULT_CONTEXT_LENGTH,
  cacheBytes: defaultCacheBytes(machineMemory()),
  prefixCacheBytes: defaultPrefixCacheBytes(machineMemory()),
  unreadMs: SAMPLER_LIMITS.unreadMs,
  maxAdapters: SAMPLER_LIMITS.adaptersMax,
  adapterBytes: defaultAdapterBytes(machineMemory()),
};
