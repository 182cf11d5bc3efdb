// Llama 2 and 3: norms before attention and MLP, none inside; biases only if config.json has them.
import { readRope } from '../rope-config.ts';
import type { Family } from './family.ts';
import { everyLayer, NO_SOFT_CAPS, plainMultipliers, PRE_NORMS, readActivation, separateLinears } from './parts.ts';

export const llama: Family = {
  modelType: 'llama',
  defaults: { hidden_act: 'silu', rms_norm_eps: 1e-6, tie_word_embeddings: false },
  block(config, sizes) {
    const bias = config.flag('attention_bias');
    return {
      linears: separateLinears(sizes, { qkv: bias, output: bias, mlp: config.flag('mlp_bias') }),
      norms: PRE_NORMS,
      activation: readActivation(config, 'hidden_act'),
      attention: everyLayer(sizes, { window: null, rope: readRope(config, { dim: sizes.headDim }) }),
      multipliers: plainMultipliers(sizes),
      softCaps: NO_SOFT_CAPS,
    };
  },
};
