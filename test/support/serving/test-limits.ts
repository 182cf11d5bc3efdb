// Limits of the embedded engine for tests: short chunks, so that prompts have several.
import { DEFAULT_INFERENCE_LIMITS, type InferenceLimits } from '#engine/onnx/serving/inference-limits';

export const TEST_LIMITS: InferenceLimits = { ...DEFAULT_INFERENCE_LIMITS, prefillChunk: 32, cacheBytes: 64 * 2 ** 20 };

/** With a queue as a contract test needs it. */
export const limitsOf = (
  queue: { readonly runningMax: number; readonly waitingMax: number } | null,
): InferenceLimits =>
  queue ? { ...TEST_LIMITS, maxRunning: queue.runningMax, maxWaiting: queue.waitingMax } : TEST_LIMITS;
