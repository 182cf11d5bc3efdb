// Low-rank adapters (arXiv:2106.09685) on the linear layers of a decoder and on its output head: y = xWᵀ + scale · (xAᵀ)Bᵀ. Decides names,
// shapes and initial values, all in PEFT's form: lora_A `[rank, in]`, lora_B `[out, rank]`. Knows no files and no graphs.
import { createRandom } from '#base/random';
import { AppError } from '#domain/errors';
import type { LoraConfig } from '#domain/lora-config';
import { ATTENTION_LINEARS, FUSED_LINEARS, type FusedLinear } from './block.ts';
import type { DecoderConfig } from './decoder-config.ts';
import { HEAD_MODULE, layerPrefix } from './decoder-parameters.ts';

/** PEFT's `all-linear` for all families; a model has those that its layers contain. */
export const LAYER_TARGETS = [
  'q_proj',
  'k_proj',
  'v_proj',
  'qkv_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'gate_up_proj',
  'down_proj',
] as const;
/** With tied weights, an adapter on the head changes only the logits: the embedding of tokens stays unchanged, as in PEFT. */
export const LORA_TARGETS = [...LAYER_TARGETS, HEAD_MODULE] as const;
export type LoraTarget = (typeof LORA_TARGETS)[number];

/** A linear layer of the base model, weight `[outFeatures, inFeatures]`. */
export interface LinearLayer {
  /** `model.layers.0.self_attn.q_proj` */
  readonly path: string;
  readonly target: LoraTarget;
  readonly inFeatures: number;
  readonly outFeatures: number;
}

/** The linears that can carry an adapter. With experts only those of attention, because `gate_proj` would be a linear of every expert. */
export const adaptedLinears = ({ experts }: DecoderConfig): readonly FusedLinear[] =>
  experts ? ATTENTION_LINEARS : FUSED_LINEARS;

/** The layers that can carry an adapter, in the order in which they run. */
export function linearLayers(config: DecoderConfig): LinearLayer[] {
  const { vocab, hidden } = config;
  const ofLayers = Array.from({ length: config.layers }, (_, layer) =>
    adaptedLinears(config)
      .flatMap((linear) => config.linears[linear])
      .map(({ module, inFeatures, outFeatures }) => ({
        path: `${layerPrefix(layer)}.${module}`,
        target: module.slice(module.indexOf('.') + 1) as LoraTarget,
        inFeatures,
        outFeatures,
      })),
  ).flat();
  return [...ofLayers, { path: HEAD_MODULE, target: HEAD_MODULE, inFeatures: hidden, outFeatures: vocab }];
}

/** What determines an adapter's tensors and their meaning. */
export interface LoraShape {
  readonly rank: number;
  readonly alpha: number;
  /** scale = alpha / √rank (arXiv:2312.03732) instead of alpha / rank. */
  readonly rankStabilized: boolean;
  readonly targets: readonly LoraTarget[];
}

export const loraScale = ({ rank, alpha, rankStabilized }: LoraShape): number =>
  alpha / (rankStabilized ? Math.sqrt(rank) : rank);

export interface LoraParameter {
  readonly name: string;
  readonly shape: readonly [number, number];
}

export const loraAName = (path: string): string => `base_model.model.${path}.lora_A.weight`;
export const loraBName = (path: string): string => `base_model.model.${path}.lora_B.weight`;

/** A and B of every targeted layer, in the order of the layers. */
export function loraParameters(layers: readonly LinearLayer[], { rank, targets }: LoraShape): LoraParameter[] {
  return layers
    .filter(({ target }) => targets.includes(target))
    .flatMap(({ path, inFeatures, outFeatures }) => [
      { name: loraAName(path), shape: [rank, inFeatures] },
      { name: loraBName(path), shape: [outFeatures, rank] },
    ]);
}

/** PEFT's `save_pretrained` stores the frozen head itself next to its adapter. The copy is not read. */
export function headCopy(layers: readonly LinearLayer[], { targets }: LoraShape): LoraParameter[] {
  return layers
    .filter(({ target }) => target === HEAD_MODULE && targets.includes(target))
    .map(({ path, outFeatures, inFeatures }) => ({
      name: `base_model.model.${path}.base_layer.weight`,
      shape: [outFeatures, inFeatures],
    }));
}

export interface LoraAdapter extends LoraShape {
  /** By parameter name, in the order of loraParameters. */
  readonly tensors: Map<string, Float32Array>;
}

const MLP_TARGETS: readonly LoraTarget[] = ['gate_proj', 'up_proj', 'gate_up_proj', 'down_proj'];

/** Throws `invalid_request` for a target that the model does not have. */
function targetsOf(
  layers: readonly LinearLayer[],
  { targets, attention = true, mlp = true, unembed = false }: LoraConfig,
): readonly LoraTarget[] {
  const present = new Set(layers.map(({ target }) => target));
  const own = LORA_TARGETS.filter((target) => present.has(target));
  if (!targets) {
    const isOn = (target: LoraTarget) =>
      target === HEAD_MODULE ? unembed : MLP_TARGETS.includes(target) ? mlp : attention;
    const selected = own.filter(isOn);
    if (selected.length > 0) return selected;
    throw new AppError('invalid_request', `lora selects no linear layer. This base model has ${own.join(', ')}.`, {
      param: 'lora',
    });
  }
  const unknown = targets.find((name) => !own.some((target) => target === name));
  if (unknown === undefined) return own.filter((target) => targets.includes(target));
  throw new AppError(
    'invalid_request',
    `${unknown} is not a linear layer of this base model, which has ${own.join(', ')}.`,
    {
      param: 'lora.target_modules',
    },
  );
}

/** B is zero, so a fresh adapter changes nothing; A is Kaiming uniform with a = √5, which is U(−1/√in, 1/√in), as in PEFT. */
export function createLoraAdapter(layers: readonly LinearLayer[], config: LoraConfig): LoraAdapter {
  const { rank, alpha, rankStabilized = false, seed } = config;
  const targets = targetsOf(layers, config);
  const shape: LoraShape = { rank, alpha, rankStabilized, targets };
  const random = createRandom(seed);
  const tensors = new Map<string, Float32Array>();
  for (const { path, inFeatures, outFeatures } of layers.filter(({ target }) => targets.includes(target))) {
    const bound = 1 / Math.sqrt(inFeatures);
    const a = Float32Array.from({ length: rank * inFeatures }, () => (random.next() * 2 - 1) * bound);
    tensors.set(loraAName(path), a);
    tensors.set(loraBName(path), new Float32Array(outFeatures * rank));
  }
  return { ...shape, tensors };
}
