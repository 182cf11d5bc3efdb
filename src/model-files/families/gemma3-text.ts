// Gemma 3, text only: Gemma 2's layers with norms on each head's queries and keys instead of soft-caps; five layers in six
// have an attention window and a smaller RoPE base than the others.
import { readRope } from '../rope-config.ts';
import { POSITIONS_MAX } from '../config-json.ts';
import type { Family } from './family.ts';
import { localAndGlobal, readActivation, SANDWICH_NORMS, separateLinears } from './parts.ts';

export const gemma3Text: Family = {
  modelType: 'gemma3_text',
  defaults: {
    head_dim: 256,
    query_pre_attn_scalar: 256,
    hidden_activation: 'gelu_pytorch_tanh',
    rms_norm_eps: 1e-6,
    rope_theta: 1_000_000,
    rope_local_base_freq: 10_000,
    sliding_window: 4096,
    sliding_window_pattern: 6,
    tie_word_embeddings: true,
  },
  block(config, sizes) {
    config.only('use_bidirectional_attention', [null, false], 'only causal attention is supported');
    config.only('attn_logit_softcapping', [null], 'softcapping is not supported for this family');
    const dim = sizes.headDim;
    const bias = config.flag('attention_bias');
    const period = config.count('sliding_window_pattern', 4_096);
    const older = { rope_theta: config.json['rope_local_base_freq'] };
    const local = {
      window: config.countOrNull('sliding_window', POSITIONS_MAX),
      rope: readRope(config, { dim, layers: 'sliding_attention', older }),
    };
    const global = { window: null, rope: readRope(config, { dim, layers: 'full_attention' }) };
    return {
      linears: separateLinears(sizes, { qkv: bias, output: bias }),
      norms: { ...SANDWICH_NORMS, queryKey: 'head', plusOne: true },
      activation: readActivation(config, 'hidden_activation'),
      attention: localAndGlobal(config, sizes, (layer) => (layer + 1) % period !== 0, local, global),
      multipliers: {
        embedding: Math.sqrt(sizes.hidden),
        attention: config.positive('query_pre_attn_scalar') ** -0.5,
        residual: 1,
        logits: 1,
      },
      softCaps: { attention: null, logits: config.positiveOrNull('final_logit_softcapping') },
    };
  },
};
