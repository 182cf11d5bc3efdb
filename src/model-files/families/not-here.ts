// Families that users will try and that are not supported, each with the reason; for others, the reason that config.json reveals.
import type { ConfigJson } from '../config-json.ts';

const EXPERTS =
  'its layers route tokens to experts in a way of their own; of such models qwen3_moe and mixtral are supported';

const NOT_HERE: Readonly<Record<string, string>> = {
  qwen2_moe: 'a shared expert runs beside those that its router chooses',
  granitemoe: EXPERTS,
  olmoe: EXPERTS,
  deepseek_v3: 'its router chooses experts by groups, and its attention keeps compressed keys',
  gpt_oss: 'its experts have biases and gates of their own kind, and its attention has sinks',
  qwen3_5_moe: 'most of its layers are linear attention, and a shared expert runs beside those that its router chooses',
  glm4_moe: 'its router has biases, and a shared expert runs beside those that it chooses',
  ernie4_5_moe: EXPERTS,
  dbrx: EXPERTS,
  jamba: 'its layers route tokens to experts, and most of them are state-space models',
  deepseek_v2: 'shared experts run beside those that its router chooses, and its attention keeps compressed keys',
  llama4: EXPERTS,
  llama4_text: EXPERTS,
  qwen3_next: 'most of its layers are linear attention, and a shared expert runs beside those that its router chooses',
  qwen3_5: 'most of its layers are linear attention',
  granitemoehybrid: 'most of its layers are state-space models',
  mamba: 'its layers are state-space models',
  mamba2: 'its layers are state-space models',
  falcon_h1: 'most of its layers are state-space models',
  nemotron_h: 'most of its layers are state-space models',
  lfm2: 'most of its layers are convolutions',
  qwen2_vl: 'it reads images; Qwen2 without VL is supported',
  qwen2_5_vl: 'it reads images; Qwen2.5 without VL is supported',
  qwen3_vl: 'it reads images; Qwen3 without VL is supported',
  llava: 'it reads images',
  mllama: 'it reads images; the Llama 3 models of 1B and 3B are supported',
  idefics3: 'it reads images; SmolLM2 and SmolLM3 are supported',
  smolvlm: 'it reads images; SmolLM2 and SmolLM3 are supported',
  paligemma: 'it reads images',
  internvl: 'it reads images',
  phi3_v: 'it reads images; phi3 is supported',
  phi4_multimodal: 'it reads images and sound; phi3, which Phi-4-mini is, is supported',
  gemma3: 'it reads images; its text-only sizes (gemma3_text) are supported',
  gemma3n: 'its layers have parallel streams and embeddings of their own',
  gemma: 'the first Gemma is not; the second and third are',
  mistral3: 'it reads images',
  ministral: 'only the Mistral of one window for all layers is',
  phi: 'its layers have LayerNorm and one residual for attention and MLP; phi3 is supported',
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
  if (says('is_encoder_decoder')) return 'it has an encoder, and only decoders are';
  return null;
}

const EXPERT_KEYS = ['num_experts', 'num_local_experts', 'n_routed_experts', 'moe_intermediate_size'];
