// adapter_config.json, as PEFT writes and reads it. Options that we cannot compute exactly are refused by name: an adapter that
// loads has the same meaning here as in PEFT.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import { LAYER_TARGETS, LORA_TARGETS, type LoraShape, type LoraTarget } from './lora.ts';

const empty = z.union([z.null(), z.record(z.string(), z.unknown()), z.array(z.unknown())]).optional();

const PeftConfig = z.object({
  peft_type: z.literal('LORA'),
  r: z.int().positive(),
  lora_alpha: z.number().positive(),
  target_modules: z.union([z.string(), z.array(z.string())]),
  use_rslora: z.boolean().nullish(),
  use_dora: z.boolean().nullish(),
  bias: z.string().nullish(),
  lora_bias: z.boolean().nullish(),
  init_lora_weights: z.union([z.boolean(), z.string()]).nullish(),
  modules_to_save: empty,
  rank_pattern: empty,
  alpha_pattern: empty,
  layer_replication: empty,
  trainable_token_indices: empty,
  target_parameters: empty,
  layers_to_transform: z.unknown().optional(),
});

/** These initialisations also change the base weights, so their adapters are meaningless on the unchanged ones. */
const BASE_CHANGING_INIT = /^(pissa|olora|loftq|corda)/;

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
  const unsupported = findUnsupported(config);
  if (unsupported) throw bad(`${unsupported} is not supported; plain LoRA on linear layers is`);
  return {
    rank: config.r,
    alpha: config.lora_alpha,
    rankStabilized: config.use_rslora ?? false,
    targets: parseTargets(config.target_modules, bad),
  };
}

function findUnsupported(config: z.infer<typeof PeftConfig>): string | null {
  if (config.use_dora) return 'use_dora';
  if (config.lora_bias) return 'lora_bias';
  if ((config.bias ?? 'none') !== 'none') return `bias ${config.bias}`;
  const init = config.init_lora_weights;
  if (typeof init === 'string' && BASE_CHANGING_INIT.test(init)) return `init_lora_weights ${init}`;
  if (config.layers_to_transform !== undefined && config.layers_to_transform !== null) return 'layers_to_transform';
  const mustBeEmpty = [
    'modules_to_save',
    'rank_pattern',
    'alpha_pattern',
    'layer_replication',
    'trainable_token_indices',
    'target_parameters',
  ] as const;
  return mustBeEmpty.find((field) => Object.keys(config[field] ?? {}).length > 0) ?? null;
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
