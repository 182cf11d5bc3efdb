// Parts that families share: each family lists its parts, and no family builds on another.
import type { Activation, Block, LayerAttention, Norms, Projection, Sizes } from '../block.ts';
import type { ConfigReader } from '../config-json.ts';

type Linears = Block['linears'];

interface Biases {
  readonly qkv?: boolean;
  readonly output?: boolean;
  readonly mlp?: boolean;
}

/** One tensor per projection: Llama's names. */
export function separateLinears(sizes: Sizes, { qkv = false, output = false, mlp = false }: Biases = {}): Linears {
  const { hidden, heads, kvHeads, headDim, intermediate } = sizes;
  return {
    qkv: [
      projection('self_attn.q_proj', hidden, heads * headDim, qkv),
      projection('self_attn.k_proj', hidden, kvHeads * headDim, qkv),
      projection('self_attn.v_proj', hidden, kvHeads * headDim, qkv),
    ],
    o: [projection('self_attn.o_proj', heads * headDim, hidden, output)],
    gate_up: [
      projection('mlp.gate_proj', hidden, intermediate, mlp),
      projection('mlp.up_proj', hidden, intermediate, mlp),
    ],
    down: [projection('mlp.down_proj', intermediate, hidden, mlp)],
  };
}

/** One tensor for queries, keys and values, one for gate and up, no biases: Phi-3's names. */
export function fusedLinears({ hidden, heads, kvHeads, headDim, intermediate }: Sizes): Linears {
  return {
    qkv: [projection('self_attn.qkv_proj', hidden, (heads + 2 * kvHeads) * headDim, false)],
    o: [projection('self_attn.o_proj', heads * headDim, hidden, false)],
    gate_up: [projection('mlp.gate_up_proj', hidden, 2 * intermediate, false)],
    down: [projection('mlp.down_proj', intermediate, hidden, false)],
  };
}

const projection = (module: string, inFeatures: number, outFeatures: number, bias: boolean): Projection => ({
  module,
  inFeatures,
  outFeatures,
  bias,
});

/** Norms before attention and before the MLP. */
export const PRE_NORMS: Norms = {
  attentionInput: 'input_layernorm',
  attentionOutput: null,
  mlpInput: 'post_attention_layernorm',
  mlpOutput: null,
  queryKey: null,
  plusOne: false,
};

/** Norms after attention and after the MLP, before their results are added. */
export const POST_NORMS: Norms = {
  attentionInput: null,
  attentionOutput: 'post_attention_layernorm',
  mlpInput: null,
  mlpOutput: 'post_feedforward_layernorm',
  queryKey: null,
  plusOne: false,
};

/** Norms on both sides of attention and of the MLP. */
export const SANDWICH_NORMS: Norms = {
  attentionInput: 'input_layernorm',
  attentionOutput: 'post_attention_layernorm',
  mlpInput: 'pre_feedforward_layernorm',
  mlpOutput: 'post_feedforward_layernorm',
  queryKey: null,
  plusOne: false,
};

const ACTIVATIONS: Readonly<Record<string, Activation>> = { silu: 'silu', gelu_pytorch_tanh: 'gelu_tanh' };

export function readActivation(config: ConfigReader, key: string): Activation {
  config.only(key, Object.keys(ACTIVATIONS), `supported are ${Object.keys(ACTIVATIONS).join(' and ')}`);
  return ACTIVATIONS[config.json[key] as string]!;
}

export const everyLayer = ({ layers }: Sizes, attention: LayerAttention): LayerAttention[] =>
  Array.from({ length: layers }, () => attention);

/** Local and global layers as in `layer_types`, or by `isLocal` if it is missing. */
export function localAndGlobal(
  config: ConfigReader,
  { layers }: Sizes,
  isLocal: (layer: number) => boolean,
  local: LayerAttention,
  global: LayerAttention,
): LayerAttention[] {
  const kinds =
    config.listOrNull('layer_types', layers, isKind) ??
    Array.from({ length: layers }, (_, layer) => (isLocal(layer) ? 'sliding_attention' : 'full_attention'));
  return kinds.map((kind) => (kind === 'sliding_attention' ? local : global));
}

const isKind = (value: unknown): value is 'sliding_attention' | 'full_attention' =>
  value === 'sliding_attention' || value === 'full_attention';

export const plainMultipliers = ({ headDim }: Sizes) => ({
  embedding: 1,
  attention: headDim ** -0.5,
  residual: 1,
  logits: 1,
});

export const NO_SOFT_CAPS = { attention: null, logits: null };

export function refuseSlidingWindow(config: ConfigReader): void {
  config.only('use_sliding_window', [null, false], 'Transformers trains and serves these models without windows');
}

const EXPERTS_MAX = 8_192;

/** `keys`: possible names of the number of experts; the first one that exists counts. */
export function readExpertCounts(config: ConfigReader, keys: readonly [string, ...string[]]) {
  const key = keys.find((name) => (config.json[name] ?? null) !== null) ?? keys[0];
  const [count, perToken] = [config.count(key, EXPERTS_MAX), config.count('num_experts_per_tok', EXPERTS_MAX)];
  if (perToken > count)
    throw config.refuse(`num_experts_per_tok must be a whole number of at most ${key} (${count}), got ${perToken}.`);
  return { count, perToken };
}
