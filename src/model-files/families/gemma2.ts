// Gemma 2: scaled embeddings, norms around attention and MLP that multiply by 1 + weight, GeGLU, soft-capped scores and
// logits; every other layer has an attention window.
import { readRope } from '../rope-config.ts';
import { POSITIONS_MAX } from '../config-json.ts';
import type { Family } from './family.ts';
import { localAndGlobal, readActivation, SANDWICH_NORMS, separateLinears } from './parts.ts';

export const gemma2: Family = {
  modelType: 'gemma2',
  defaults: {
    head_dim: 256,
    query_pre_attn_scalar: 256,
    hidden_activation: 'gelu_pytorch_tanh',
    rms_norm_eps: 1e-6,
    sliding_window: 4096,
    attn_logit_softcapping: 50,
    final_logit_softcapping: 30,
    tie_word_embeddings: true,
  },
  block(config, sizes) {
    config.only('use_bidirectional_attention', [null, false], 'only causal attention is supported');
    const bias = config.flag('attention_bias');
    const rope = readRope(config, { dim: sizes.headDim });
    const local = { window: config.countOrNull('sliding_window', POSITIONS_MAX), rope };
    return {
      linears: separateLinears(sizes, { qkv: bias, output: bias }),
      norms: { ...SANDWICH_NORMS, plusOne: true },
      activation: readActivation(config, 'hidden_activation'),
      attention: localAndGlobal(config, sizes, (layer) => layer % 2 === 0, local, { window: null, rope }),
      multipliers: {
        embedding: Math.sqrt(sizes.hidden),
        attention: config.positive('query_pre_attn_scalar') ** -0.5,
        residual: 1,
        logits: 1,
      },
      softCaps: {
        attention: config.positiveOrNull('attn_logit_softcapping'),
        logits: config.positiveOrNull('final_logit_softcapping'),
      },
    };
  },
};
