// The limits of the serving engine, with their reasons; those that other components use are in engine/sampler-limits.ts.
import { SAMPLER_LIMITS } from '../../sampler-limits.ts';
import { machineMemory } from '../machine-memory.ts';
import type { StepLimits } from './scheduler.ts';

export interface InferenceLimits extends StepLimits {
  /** Prompt and completion of a sequence; the model's own limit and the cache may be smaller. */
  readonly contextLength: number;
  /** For the keys and values of all sequences. */
  readonly cacheBytes: number;
  /** For the cache of computed prompts. */
  readonly prefixCacheBytes: number;
  /** A stream that is not read for this long gives its places in the batch to waiting requests until it is read again. */
  readonly unreadMs: number;
  /** Adapters in memory. */
  readonly maxAdapters: number;
  readonly adapterBytes: number;
}

const GIB = 1024 ** 3;

/** Default context length. */
const DEFAULT_CONTEXT_LENGTH = 32_768;
/** Leaves room for weights and for training on the same machine. */
export const defaultCacheBytes = (memoryBytes: number): number => Math.min(4 * GIB, memoryBytes / 4);
export const defaultPrefixCacheBytes = (memoryBytes: number): number => Math.min(GIB, memoryBytes / 16);

export const defaultAdapterBytes = (memoryBytes: number): number => Math.min(2 * GIB, memoryBytes / 16);

export const DEFAULT_INFERENCE_LIMITS: InferenceLimits = {
  maxRunning: SAMPLER_LIMITS.sequencesMax,
  maxWaiting: 4096, // several RL batches; beyond that it is better to refuse than to wait longer
  prefillChunk: 128, // also the grain of the prefix cache; 64 costs 18 % of float32 prefill, 256 gains 3 %
  prefillTokensPerDecode: 512,
  contextLength: DEFAULT_CONTEXT_LENGTH,
  cacheBytes: defaultCacheBytes(machineMemory()),
  prefixCacheBytes: defaultPrefixCacheBytes(machineMemory()),
  unreadMs: SAMPLER_LIMITS.unreadMs,
  maxAdapters: SAMPLER_LIMITS.adaptersMax,
  adapterBytes: defaultAdapterBytes(machineMemory()),
};
