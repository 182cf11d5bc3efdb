// Qwen3 with experts: a hundred small experts in all or most layers, eight of them per token.
import { isNumber } from '../config-json.ts';
import type { Family } from './family.ts';
import { readExpertCounts } from './parts.ts';
import { qwen3 } from './qwen3.ts';

export const qwen3Moe: Family = {
  modelType: 'qwen3_moe',
  defaults: {
    hidden_act: 'silu',
    rms_norm_eps: 1e-6,
    tie_word_embeddings: false,
    intermediate_size: 6144,
    moe_intermediate_size: 768,
    num_experts_per_tok: 8,
    decoder_sparse_step: 1,
  },
  block: (config, sizes) => qwen3.block(config, sizes),
  experts(config, { layers }) {
    const step = config.count('decoder_sparse_step', 4_096);
    const dense = config.json['mlp_only_layers'] ?? [];
    if (!Array.isArray(dense) || !dense.every(isNumber))
      throw config.refuse(`mlp_only_layers must be a list of layers, got ${JSON.stringify(dense)}.`);
    return {
      ...readExpertCounts(config, ['num_experts', 'num_local_experts']), // the keys of Transformers 4 and 5
      intermediate: config.count('moe_intermediate_size', 2_097_152),
      normalized: config.flag('norm_topk_prob'),
      layers: Array.from({ length: layers }, (_, layer) => !dense.includes(layer) && (layer + 1) % step === 0),
      router: 'mlp.gate',
      module: 'mlp.experts',
      names: { gate: 'gate_proj', up: 'up_proj', down: 'down_proj' },
    };
  },
};
