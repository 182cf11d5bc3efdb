// Writes a Qwen3 with random weights as GGUF, so that llama.cpp can run the same shape. Matrices are Q8_0 or F32, norms F32.
import { createRandom } from '#base/random';
import type { DecoderConfig } from '#model-files/decoder-config';
import { writeGguf, type TensorToWrite, type TypedValue } from '#model-files/gguf/write-gguf';

export function writeRandomGguf(path: string, config: DecoderConfig, matrices: 'Q8_0' | 'F32'): Promise<void> {
  return writeGguf(path, metadataOf(config), tensorsOf(config, matrices));
}

function tensorsOf(
  { hidden, heads, kvHeads, headDim, intermediate, vocab, layers }: DecoderConfig,
  type: 'Q8_0' | 'F32',
): TensorToWrite[] {
  const random = createRandom(1);
  const tensor = (
    name: string,
    shape: readonly number[],
    kind: 'Q8_0' | 'F32',
    value: () => number,
  ): TensorToWrite => ({
    name: `${name}.weight`,
    shape,
    type: kind,
    data: () =>
      Promise.resolve(Float32Array.from({ length: shape.reduce((product, size) => product * size, 1) }, value)),
  });
  const matrix = (name: string, inFeatures: number, outFeatures: number) =>
    tensor(name, [outFeatures, inFeatures], type, () => (random.next() - 0.5) * 0.04);
  const norm = (name: string, size: number) => tensor(name, [size], 'F32', () => 1);
  const tensors = [matrix('token_embd', hidden, vocab), norm('output_norm', hidden)];
  for (let layer = 0; layer < layers; layer++) {
    const at = (name: string) => `blk.${layer}.${name}`;
    tensors.push(
      norm(at('attn_norm'), hidden),
      matrix(at('attn_q'), hidden, heads * headDim),
      matrix(at('attn_k'), hidden, kvHeads * headDim),
      matrix(at('attn_v'), hidden, kvHeads * headDim),
      matrix(at('attn_output'), heads * headDim, hidden),
      norm(at('attn_q_norm'), headDim),
      norm(at('attn_k_norm'), headDim),
      norm(at('ffn_norm'), hidden),
      matrix(at('ffn_gate'), hidden, intermediate),
      matrix(at('ffn_up'), hidden, intermediate),
      matrix(at('ffn_down'), intermediate, hidden),
    );
  }
  return tensors;
}

function metadataOf(config: DecoderConfig): Record<string, TypedValue> {
  const u32 = (value: number): TypedValue => ({ type: 'u32', value });
  const f32 = (value: number): TypedValue => ({ type: 'f32', value });
  const tokens = Array.from({ length: config.vocab }, (_, i) => (i === 0 ? '<|end|>' : `t${i}`));
  return {
    'general.architecture': { type: 'string', value: 'qwen3' },
    'qwen3.context_length': u32(config.maxPositions),
    'qwen3.embedding_length': u32(config.hidden),
    'qwen3.block_count': u32(config.layers),
    'qwen3.feed_forward_length': u32(config.intermediate),
    'qwen3.attention.head_count': u32(config.heads),
    'qwen3.attention.head_count_kv': u32(config.kvHeads),
    'qwen3.attention.key_length': u32(config.headDim),
    'qwen3.attention.value_length': u32(config.headDim),
    'qwen3.attention.layer_norm_rms_epsilon': f32(config.normEpsilon),
    'qwen3.rope.freq_base': f32(config.attention[0]!.rope!.theta),
    'tokenizer.ggml.model': { type: 'string', value: 'gpt2' },
    'tokenizer.ggml.pre': { type: 'string', value: 'qwen2' },
    'tokenizer.ggml.tokens': { type: 'string', value: tokens },
    'tokenizer.ggml.token_type': { type: 'i32', value: tokens.map((_, i) => (i === 0 ? 3 : 1)) }, // the first is a control token
    'tokenizer.ggml.merges': { type: 'string', value: ['t 1'] },
    'tokenizer.ggml.eos_token_id': u32(0),
  };
}
