// The names of a decoder's tensors in GGUF, and the layout of their values: one table for reading and writing.
import type { DecoderConfig } from '../decoder-config.ts';
import {
  decoderParameters,
  EMBEDDING_WEIGHT,
  HEAD_MODULE,
  HEAD_WEIGHT,
  type ParameterSpec,
} from '../decoder-parameters.ts';

export interface GgufParameter extends ParameterSpec {
  /** The name in the file. */
  readonly gguf: string;
  /** For experts: the index in the stacked tensor `[experts, …shape]`, and the name in older files, where it is a separate tensor. */
  readonly expert: { readonly place: number; readonly alone: string } | null;
  /** Not null: rows of this many heads, which may be stored as pairs (`toPairs`). */
  readonly heads: number | null;
  /** The file stores 1 + weight. */
  readonly plusOne: boolean;
}

const WHOLE: Readonly<Record<string, string>> = {
  [EMBEDDING_WEIGHT]: 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  [HEAD_WEIGHT]: 'output.weight',
};

const MODULES: Readonly<Record<string, string>> = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.qkv_proj': 'attn_qkv',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.gate_up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  'mlp.gate': 'ffn_gate_inp',
  'block_sparse_moe.gate': 'ffn_gate_inp',
};

const EXPERT_LINEARS: Readonly<Record<string, string>> = {
  ...{ gate_proj: 'ffn_gate', up_proj: 'ffn_up', down_proj: 'ffn_down' },
  ...{ w1: 'ffn_gate', w3: 'ffn_up', w2: 'ffn_down' },
};
const EXPERT = /^model\.layers\.(\d+)\.\w+\.experts\.(\d+)\.(\w+)\.weight$/;

/** The router of the experts; always float32, as written by llama.cpp's converter. */
export const isRouter = (gguf: string): boolean => gguf.endsWith('.ffn_gate_inp.weight');

const NORMS = {
  attentionInput: 'attn_norm',
  attentionOutput: 'post_attention_norm',
  mlpInput: 'ffn_norm',
  mlpOutput: 'post_ffw_norm',
} as const;

/** `model.layers.3.self_attn.q_proj` → `blk.3.attn_q`; includes the head. */
export function ggufModule(path: string, { norms }: DecoderConfig): string {
  if (path === HEAD_MODULE) return 'output';
  const [, layer, module] = /^model\.layers\.(\d+)\.(.+)$/.exec(path)!;
  const role = (Object.keys(NORMS) as (keyof typeof NORMS)[]).find((each) => norms[each] === module);
  return `blk.${layer}.${role ? NORMS[role] : MODULES[module!]}`;
}

export function ggufParameters(config: DecoderConfig): readonly GgufParameter[] {
  return decoderParameters(config).map(({ name, shape }) => ({
    name,
    shape,
    ...placeOf(name, config),
    heads: headsOf(name, config),
    plusOne: config.norms.plusOne && name.endsWith('norm.weight'),
  }));
}

function placeOf(name: string, config: DecoderConfig): Pick<GgufParameter, 'gguf' | 'expert'> {
  const [, layer, expert, linear] = EXPERT.exec(name) ?? [];
  if (expert !== undefined) {
    const stack = `blk.${layer}.${EXPERT_LINEARS[linear!]}`;
    const alone = `${stack}.${expert}.weight`;
    return { gguf: `${stack}_exps.weight`, expert: { place: Number(expert), alone } };
  }
  const [end] = /\.(?:weight|bias)$/.exec(name)!;
  return { gguf: WHOLE[name] ?? `${ggufModule(name.slice(0, -end.length), config)}${end}`, expert: null };
}

/** How many heads the rows of a linear's weight, its bias, or B of its adapter consist of; null: none. */
export function headsOf(name: string, { heads, kvHeads }: DecoderConfig): number | null {
  if (name.includes('.self_attn.q_proj.')) return heads;
  return name.includes('.self_attn.k_proj.') ? kvHeads : null;
}

/**
 * Reorders the rows of heads from halves that are rotated together to pairs: row `half · d/2 + i` moves to `2i + half`. `values` are
 * `[heads · d, columns]`, or `[heads · d]`.
 */
export const toPairs = (values: Float32Array, heads: number, rows: number): Float32Array =>
  moveRows(values, heads, rows, (half, i, size) => [half * (size / 2) + i, 2 * i + half]);

export const fromPairs = (values: Float32Array, heads: number, rows: number): Float32Array =>
  moveRows(values, heads, rows, (half, i, size) => [2 * i + half, half * (size / 2) + i]);

function moveRows(
  values: Float32Array,
  heads: number,
  rows: number,
  move: (half: number, i: number, size: number) => [from: number, to: number],
): Float32Array {
  const size = rows / heads;
  const columns = values.length / rows;
  const moved = new Float32Array(values.length);
  for (let head = 0; head < heads; head++) {
    for (let half = 0; half < 2; half++) {
      for (let i = 0; i < size / 2; i++) {
        const [from, to] = move(half, i, size).map((row) => (head * size + row) * columns) as [number, number];
        moved.set(values.subarray(from, from + columns), to);
      }
    }
  }
  return moved;
}
