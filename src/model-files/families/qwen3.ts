// Qwen3, dense: RMS norms on the queries and keys of each head instead of biases.
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

export const qwen3: Family = {
  modelType: 'qwen3',
  defaults: { hidden_act: 'silu', rms_norm_eps: 1e-6, tie_word_embeddings: false },
  block(config, sizes) {
    refuseSlidingWindow(config);
    const bias = config.flag('attention_bias');
    return {
      linears: separateLinears(sizes, { qkv: bias, output: bias }),
      norms: { ...PRE_NORMS, queryKey: 'head' },
      activation: readActivation(config, 'hidden_act'),
      attention: everyLayer(sizes, { window: null, rope: readRope(config, { dim: sizes.headDim }) }),
      multipliers: plainMultipliers(sizes),
      softCaps: NO_SOFT_CAPS,
    };
  },
};
