// Mixtral: Mistral's attention, and in every layer a few large experts, two of them per token.
import type { Family } from './family.ts';
import { mistral } from './mistral.ts';
import { readExpertCounts } from './parts.ts';

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
  block: (config, sizes) => mistral.block(config, sizes),
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
