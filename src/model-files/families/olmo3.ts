// OLMo 3: OLMo 2's layers, three in four with an attention window; only the others scale their positions.
import { readRope } from '../rope-config.ts';
import { POSITIONS_MAX } from '../config-json.ts';
import type { Family } from './family.ts';
import {
  localAndGlobal,
  NO_SOFT_CAPS,
  plainMultipliers,
  POST_NORMS,
  readActivation,
  separateLinears,
} from './parts.ts';

export const olmo3: Family = {
  modelType: 'olmo3',
  defaults: {
    hidden_act: 'silu',
    rms_norm_eps: 1e-5,
    rope_theta: 500_000,
    sliding_window: 4096,
    tie_word_embeddings: false,
  },
  block(config, sizes) {
    const dim = sizes.headDim;
    const bias = config.flag('attention_bias');
    const local = {
      window: config.countOrNull('sliding_window', POSITIONS_MAX),
      rope: readRope(config, { dim, layers: 'sliding_attention', older: { rope_theta: config.json['rope_theta'] } }),
    };
    const global = { window: null, rope: readRope(config, { dim, layers: 'full_attention' }) };
    return {
      linears: separateLinears(sizes, { qkv: bias, output: bias }),
      norms: { ...POST_NORMS, queryKey: 'projection' },
      activation: readActivation(config, 'hidden_act'),
      attention: localAndGlobal(config, sizes, (layer) => (layer + 1) % 4 !== 0, local, global),
      multipliers: plainMultipliers(sizes),
      softCaps: NO_SOFT_CAPS,
    };
  },
};
