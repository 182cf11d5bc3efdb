// Mistral: Llama's layers; in the first version every layer has an attention window.
import { readRope } from '../rope-config.ts';
import { POSITIONS_MAX } from '../config-json.ts';
import type { Family } from './family.ts';
import { everyLayer, NO_SOFT_CAPS, plainMultipliers, PRE_NORMS, readActivation, separateLinears } from './parts.ts';

export const mistral: Family = {
  modelType: 'mistral',
  defaults: { hidden_act: 'silu', rms_norm_eps: 1e-6, tie_word_embeddings: false },
  block(config, sizes) {
    const window = config.countOrNull('sliding_window', POSITIONS_MAX);
    return {
      linears: separateLinears(sizes),
      norms: PRE_NORMS,
      activation: readActivation(config, 'hidden_act'),
      attention: everyLayer(sizes, { window, rope: readRope(config, { dim: sizes.headDim }) }),
      multipliers: plainMultipliers(sizes),
      softCaps: NO_SOFT_CAPS,
    };
  },
};
