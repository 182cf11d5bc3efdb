// Mixtral: Mistral's attention, and in every layer a few large MLPs, of which a token goes through two.
import { readRope } from '../rope-config.ts';
import type { Family } from './family.ts';
import {
  everyLayer,
  NO_SOFT_CAPS,
  plainMultipliers,
  PRE_NORMS,
  readActivation,
  readExpertCounts,
  separateLinears,
} from './parts.ts';

export const mixtral: Family = {
  modelType: 'mixtral',
  defaults: {
    hidden_act: 'silu',
    rms_norm_eps: 1e-5,
    rope_theta: 1e6,
    tie_word_embeddings: false,
    num_local_experts: 8,
    num_experts_per_tok: 2,
  },
  block(config, sizes) {
    const window = config.positiveOrNull('sliding_window');
    return {
      linears: separateLinears(sizes),
      norms: PRE_NORMS,
      activation: readActivation(config, 'hidden_act'),
      attention: everyLayer(sizes, { window, rope: readRope(config, { dim: sizes.headDim }) }),
      multipliers: plainMultipliers(sizes),
      softCaps: NO_SOFT_CAPS,
    };
  },
  experts(config, sizes) {
    return {
      ...readExpertCounts(config, ['num_local_experts']),
      intermediate: sizes.intermediate,
      normalized: true,
      layers: Array.from({ length: sizes.layers }, () => true),
      router: 'block_sparse_moe.gate',
      module: 'block_sparse_moe.experts',
      names: { gate: 'w1', up: 'w3', down: 'w2' },
    };
  },
};
