// OLMo 2: norms on the outputs of attention and MLP instead of their inputs, and over all queries and all keys at once.
import { readRope } from '../rope-config.ts';
import type { Family } from './family.ts';
import { everyLayer, NO_SOFT_CAPS, plainMultipliers, POST_NORMS, readActivation, separateLinears } from './parts.ts';

export const olmo2: Family = {
  modelType: 'olmo2',
  defaults: { hidden_act: 'silu', rms_norm_eps: 1e-5, tie_word_embeddings: false },
  block(config, sizes) {
    const bias = config.flag('attention_bias');
    return {
      linears: separateLinears(sizes, { qkv: bias, output: bias }),
      norms: { ...POST_NORMS, queryKey: 'projection' },
      activation: readActivation(config, 'hidden_act'),
      attention: everyLayer(sizes, { window: null, rope: readRope(config, { dim: sizes.headDim }) }),
      multipliers: plainMultipliers(sizes),
      softCaps: NO_SOFT_CAPS,
    };
  },
};
