// Granite 3, dense: Llama's layers, with multipliers on embeddings, scores, residuals and logits.
import { readRope } from '../rope-config.ts';
import type { Family } from './family.ts';
import { everyLayer, NO_SOFT_CAPS, PRE_NORMS, readActivation, separateLinears } from './parts.ts';

export const granite: Family = {
  modelType: 'granite',
  defaults: { hidden_act: 'silu', rms_norm_eps: 1e-6, tie_word_embeddings: false },
  block(config, sizes) {
    const bias = config.flag('attention_bias');
    return {
      linears: separateLinears(sizes, { qkv: bias, output: bias, mlp: config.flag('mlp_bias') }),
      norms: PRE_NORMS,
      activation: readActivation(config, 'hidden_act'),
      attention: everyLayer(sizes, { window: null, rope: readRope(config, { dim: sizes.headDim }) }),
      multipliers: {
        embedding: config.positive('embedding_multiplier', 1),
        attention: config.positive('attention_multiplier', 1),
        residual: config.positive('residual_multiplier', 1),
        logits: 1 / config.positive('logits_scaling', 1),
      },
      softCaps: NO_SOFT_CAPS,
    };
  },
};
