// Families that users will try and that are not supported, each with the reason; for others, the reason that config.json reveals.
import type { ConfigJson } from '../config-json.ts';

const EXPERTS = 'its mixture of experts differs from those that are supported (qwen3_moe, mixtral)';

const NOT_HERE: Readonly<Record<string, string>> = {
  qwen2_moe: 'it has a shared expert',
  granitemoe: EXPERTS,
  olmoe: EXPERTS,
  deepseek_v3: 'its router selects groups of experts, and its attention compresses keys and values (MLA)',
  gpt_oss: 'its experts have biases and another activation, and its attention has sinks',
  qwen3_5_moe: 'most of its layers have linear attention, and it has a shared expert',
  glm4_moe: 'its router has biases, and it has a shared expert',
  ernie4_5_moe: EXPERTS,
  dbrx: EXPERTS,
  jamba: 'most of its layers are state-space models, and it has a mixture of experts',
  deepseek_v2: 'it has shared experts, and its attention compresses keys and values (MLA)',
  llama4: EXPERTS,
  llama4_text: EXPERTS,
  qwen3_next: 'most of its layers have linear attention, and it has a shared expert',
  qwen3_5: 'most of its layers have linear attention',
  granitemoehybrid: 'most of its layers are state-space models',
  mamba: 'its layers are state-space models',
  mamba2: 'its layers are state-space models',
  falcon_h1: 'most of its layers are state-space models',
  nemotron_h: 'most of its layers are state-space models',
  lfm2: 'most of its layers are convolutions',
  qwen2_vl: 'it reads images; the text-only Qwen2 is supported',
  qwen2_5_vl: 'it reads images; the text-only Qwen2.5 is supported',
  qwen3_vl: 'it reads images; the text-only Qwen3 is supported',
  llava: 'it reads images',
  mllama: 'it reads images; the Llama 3 models of 1B and 3B are supported',
  idefics3: 'it reads images; SmolLM2 and SmolLM3 are supported',
  smolvlm: 'it reads images; SmolLM2 and SmolLM3 are supported',
  paligemma: 'it reads images',
  internvl: 'it reads images',
  phi3_v: 'it reads images; phi3 is supported',
  phi4_multimodal: 'it reads images and sound; Phi-4-mini (phi3) is supported',
  gemma3: 'it reads images; its text-only sizes (gemma3_text) are supported',
  gemma3n: 'its layers have parallel residual streams and their own embeddings',
  gemma: 'Gemma 2 and 3 are supported',
  mistral3: 'it reads images',
  ministral: 'its layers have different attention windows; mistral, with one window for all, is supported',
  phi: 'its layers have LayerNorm, and attention and MLP in parallel; phi3 is supported',
  phimoe: EXPERTS,
  olmo: 'its norms have no weights; olmo2 and olmo3 are supported',
  gpt2: 'it has learned positions and LayerNorm',
  gpt_neox: 'it has LayerNorm and an MLP without a gate',
};

/** Null: no reason is known. */
export function whyNotHere(config: ConfigJson): string | null {
  const type = config['model_type'];
  if (typeof type === 'string' && Object.hasOwn(NOT_HERE, type)) return NOT_HERE[type]!;
  const says = (key: string) => config[key] !== undefined && config[key] !== null && config[key] !== false;
  if (EXPERT_KEYS.some(says)) return EXPERTS;
  if (says('vision_config') || says('vision_tower') || says('image_token_id')) return 'it reads images';
  if (says('audio_config')) return 'it reads sound';
  if (says('is_encoder_decoder')) return 'it has an encoder; only decoders are supported';
  return null;
}

const EXPERT_KEYS = ['num_experts', 'num_local_experts', 'n_routed_experts', 'moe_intermediate_size'];
