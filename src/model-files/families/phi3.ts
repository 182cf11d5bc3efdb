// Phi-3, Phi-3.5 and Phi-4, dense: Llama's layers with fused tensors; only the first values of a head are rotated, with LongRoPE's
// short factors, which apply up to the length at which the long ones take over.
import { POSITIONS_MAX, isNumber } from '../config-json.ts';
import { readRope } from '../rope-config.ts';
import type { Family } from './family.ts';
import { everyLayer, fusedLinears, NO_SOFT_CAPS, plainMultipliers, PRE_NORMS, readActivation } from './parts.ts';

export const phi3: Family = {
  modelType: 'phi3',
  defaults: { hidden_act: 'silu', rms_norm_eps: 1e-5, tie_word_embeddings: false },
  block(config, sizes) {
    const gathered = config.json['rope_parameters'] as { partial_rotary_factor?: unknown } | null | undefined;
    const part = gathered?.partial_rotary_factor ?? config.json['partial_rotary_factor'] ?? 1;
    if (!isNumber(part) || part <= 0 || part > 1)
      throw config.refuse(`partial_rotary_factor must be above 0 and at most 1, got ${JSON.stringify(part)}.`);
    const rope = readRope(config, { dim: Math.floor(sizes.headDim * part) });
    return {
      linears: fusedLinears(sizes),
      norms: PRE_NORMS,
      activation: readActivation(config, 'hidden_act'),
      attention: everyLayer(sizes, { window: config.countOrNull('sliding_window', POSITIONS_MAX), rope }),
      multipliers: plainMultipliers(sizes),
      softCaps: NO_SOFT_CAPS,
    };
  },
};
