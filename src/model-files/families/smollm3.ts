// SmolLM3: Llama's layers, every fourth of which has no rotary positions (NoPE).
import { readRope } from '../rope-config.ts';
import type { Family } from './family.ts';
import {
  NO_SOFT_CAPS,
  plainMultipliers,
  PRE_NORMS,
  readActivation,
  refuseSlidingWindow,
  separateLinears,
} from './parts.ts';

export const smollm3: Family = {
  modelType: 'smollm3',
  defaults: { hidden_act: 'silu', rms_norm_eps: 1e-6, rope_theta: 2_000_000, tie_word_embeddings: true },
  block(config, sizes) {
    refuseSlidingWindow(config);
    const bias = config.flag('attention_bias');
    const interval = config.count('no_rope_layer_interval', 4_096, 4);
    const turns =
      config.listOrNull('no_rope_layers', sizes.layers, isBit) ??
      Array.from({ length: sizes.layers }, (_, layer) => ((layer + 1) % interval === 0 ? 0 : 1));
    const rope = readRope(config, { dim: sizes.headDim });
    return {
      linears: separateLinears(sizes, { qkv: bias, output: bias, mlp: config.flag('mlp_bias') }),
      norms: PRE_NORMS,
      activation: readActivation(config, 'hidden_act'),
      attention: turns.map((turn) => ({ window: null, rope: turn === 1 ? rope : null })),
      multipliers: plainMultipliers(sizes),
      softCaps: NO_SOFT_CAPS,
    };
  },
};

const isBit = (value: unknown): value is 0 | 1 => value === 0 || value === 1;
