// Qwen2 and Qwen2.5: Llama's layers with biases on q, k and v, always.
import { readRope } from '../rope-config.ts';
import type { Family } from './family.ts';
import {
  everyLayer,
  NO_SOFT_CAPS,
  plainMultipliers,
  PRE_NORMS,
  readActivation,
  refuseSlidingWindow,
  separateLinears,
} from './parts.ts';

export const qwen2: Family = {
  modelType: 'qwen2',
  defaults: { hidden_act: 'silu', rms_norm_eps: 1e-6, tie_word_embeddings: false },
  block(config, sizes) {
    refuseSlidingWindow(config);
    return {
      linears: separateLinears(sizes, { qkv: true }),
      norms: PRE_NORMS,
      activation: readActivation(config, 'hidden_act'),
      attention: everyLayer(sizes, { window: null, rope: readRope(config, { dim: sizes.headDim }) }),
      multipliers: plainMultipliers(sizes),
      softCaps: NO_SOFT_CAPS,
    };
  },
};
