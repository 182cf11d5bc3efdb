// adapter_config.json, as PEFT writes and reads it. Options that we cannot compute exactly are refused by name, and so are options that
// this file does not know: an adapter that loads has the same meaning here as in PEFT. The fields are those of LoraConfig 0.21
// (python/golden/make_peft_fields.py).
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import { LAYER_TARGETS, LORA_TARGETS, type LoraShape, type LoraTarget } from './lora.ts';

const PeftConfig = z.object({
  peft_type: z.literal('LORA'),
  r: z.int().positive(),
  lora_alpha: z.number().positive(),
  target_modules: z.union([z.string(), z.array(z.string())]),
  use_rslora: z.boolean().nullish(),
});

/**
 * `read`: it is part of the shape. `same`: it says nothing about what the tensors mean. `unset`: the adapter means something else if it is
 * set. Otherwise the values that it may have.
 */
type Decision = 'read' | 'same' | 'unset' | readonly unknown[];

export const PEFT_FIELDS: Readonly<Record<string, Decision>> = {
  peft_type: 'read',
  r: 'read',
  lora_alpha: 'read',
  use_rslora: 'read',
  target_modules: 'read',
  // Where the adapter comes from, and how it was trained.
  auto_mapping: 'same',
  base_model_name_or_path: 'same',
  revision: 'same',
  task_type: 'same',
  peft_version: 'same',
  inference_mode: 'same',
  lora_dropout: 'same',
  runtime_config: 'same', // where PEFT keeps tensors
  megatron_core: 'same', // the name of a Python module
  fan_in_fan_out: 'same', // PEFT itself ignores it for linear layers
  // Read by initialisations only.
  loftq_config: 'same',
  eva_config: 'same',
  corda_config: 'same',
  lora_ga_config: 'same',
  // Others also change the base weights, so their adapters are meaningless on the unchanged ones, or change the layer.
  init_lora_weights: [true, false, 'gaussian', 'eva', 'orthogonal'],
  bias: ['none'],
  qalora_group_size: 'same', // of use_qalora
  // Other layers, other modules, or other ranks in some of them.
  exclude_modules: 'unset',
  modules_to_save: 'unset',
  layers_to_transform: 'unset',
  layers_pattern: 'unset',
  rank_pattern: 'unset',
  alpha_pattern: 'unset',
  layer_replication: 'unset',
  trainable_token_indices: 'unset',
  target_parameters: 'unset',
  ensure_weight_tying: 'unset',
  // Other computations.
  use_dora: 'unset',
  lora_bias: 'unset',
  megatron_config: 'unset',
  velora_config: 'unset',
  alora_invocation_tokens: 'unset',
  use_qalora: 'unset',
  monteclora_config: 'unset',
  use_bdlora: 'unset',
  arrow_config: 'unset',
  kasa_config: 'unset',
};

export function parsePeftConfig(json: string, path: string): LoraShape {
  const bad = (fault: string, cause?: unknown) =>
    new AppError('bad_model_files', `Cannot load the adapter: ${path}: ${fault}.`, { cause });
  let raw: unknown;
  try {
    raw = JSON.parse(json);
  } catch (cause) {
    throw bad('it is not valid JSON', cause);
  }
  const type = isObject(raw) ? raw.peft_type : undefined; // checked first: other types have other fields
  if (typeof type === 'string' && type !== 'LORA') throw bad(`peft_type ${type} is not supported; LORA is`);
  const parsed = PeftConfig.safeParse(raw);
  if (!parsed.success) throw bad(z.prettifyError(parsed.error).replaceAll('\n', ' '));
  const config = parsed.data;
  const unsupported = findUnsupported(raw as Record<string, unknown>);
  if (unsupported) throw bad(`${unsupported} is not supported; plain LoRA on linear layers is`);
  return {
    rank: config.r,
    alpha: config.lora_alpha,
    rankStabilized: config.use_rslora ?? false,
    targets: parseTargets(config.target_modules, bad),
  };
}

/** A field that this file does not know may be there as long as it is not set. */
function findUnsupported(config: Readonly<Record<string, unknown>>): string | null {
  for (const [field, value] of Object.entries(config)) {
    const decision = Object.hasOwn(PEFT_FIELDS, field) ? PEFT_FIELDS[field]! : 'unset';
    if (typeof decision === 'object' && value !== null && !decision.includes(value))
      return `${field} ${typeof value === 'string' ? value : JSON.stringify(value)}`;
    if (decision === 'unset' && isSet(value)) return field;
  }
  return null;
}

function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== null && value !== false && value !== '';
}

/** PEFT writes `all-linear` as the paths of all layers except the head. Whether it is all of them is checked by the tensors. */
function parseTargets(modules: string | readonly string[], bad: (fault: string) => AppError): readonly LoraTarget[] {
  if (modules === 'all-linear') return LAYER_TARGETS;
  if (typeof modules === 'string') throw bad(`target_modules ${modules} is a pattern; give a list of module names`);
  const names = modules.map((module) => module.slice(module.lastIndexOf('.') + 1));
  const unknown = names.find((name) => !LORA_TARGETS.includes(name as LoraTarget));
  if (unknown !== undefined) throw bad(`target module ${unknown} is not one of ${LORA_TARGETS.join(', ')}`);
  if (names.length === 0) throw bad('target_modules is empty');
  return LORA_TARGETS.filter((name) => names.includes(name));
}

/** Every field that PEFT's LoraConfig has had since 0.5, so that old and new versions load it. Keys are sorted, as PEFT sorts them. */
export function formatPeftConfig({ rank, alpha, rankStabilized, targets }: LoraShape, baseModel: string): string {
  const config = {
    alpha_pattern: {},
    auto_mapping: null,
    base_model_name_or_path: baseModel,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    layer_replication: null,
    layers_pattern: null,
    layers_to_transform: null,
    loftq_config: {},
    lora_alpha: alpha,
    lora_dropout: 0.0,
    megatron_config: null,
    megatron_core: 'megatron.core',
    modules_to_save: null,
    peft_type: 'LORA',
    r: rank,
    rank_pattern: {},
    revision: null,
    target_modules: targets,
    task_type: 'CAUSAL_LM',
    use_dora: false,
    use_rslora: rankStabilized,
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
