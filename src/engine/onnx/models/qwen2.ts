// Qwen2 and Qwen2.5: biases on q, k and v, always.
import type { Family } from './config.ts';
import { refuseSlidingWindow } from './qwen3.ts';

export const qwen2: Family = {
  modelType: 'qwen2',
  switches(config) {
    refuseSlidingWindow(config);
    return { qkvBias: true, outputBias: false, queryKeyNorm: false };
  },
};
