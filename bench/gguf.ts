// Writes a model of random weights as GGUF (ggml's docs/gguf.md, version 3), so that llama.cpp can run the same shape.
// Matrices are Q8_0, blocks of 32 with a float16 scale, or F32; norms are F32.
import { open } from 'node:fs/promises';
import { createRandom } from '#base/random';
import type { DecoderConfig } from '#model-files/decoder-config';

const ALIGNMENT = 32;
const TYPE = { u32: 4, f32: 6, string: 8, array: 9, i32: 5 } as const;
const GGML = { f32: 0, q8_0: 8 } as const;

interface TensorSpec {
  name: string;
  /** ggml order: the fastest dimension first. */
  dims: readonly number[];
  type: keyof typeof GGML;
}

export async function writeRandomGguf(path: string, config: DecoderConfig, matrices: 'q8_0' | 'f32'): Promise<void> {
  const tensors = tensorSpecs(config, matrices);
  const header = new Bytes();
  header.raw(Buffer.from('GGUF'));
  header.u32(3);
  header.u64(tensors.length);
  const metadata = metadataOf(config);
  header.u64(metadata.length);
  for (const write of metadata) write(header);
  let offset = 0;
  for (const { name, dims, type } of tensors) {
    header.string(name);
    header.u32(dims.length);
    for (const dim of dims) header.u64(dim);
    header.u32(GGML[type]);
    header.u64(offset);
    offset += aligned(sizeBytes({ name, dims, type }));
  }
  const file = await open(path, 'w');
  const head = header.done();
  await file.write(head);
  await file.write(Buffer.alloc(aligned(head.length) - head.length));
  const random = createRandom(1);
  for (const tensor of tensors) {
    const size = sizeBytes(tensor);
    const data = Buffer.alloc(aligned(size));
    if (tensor.type === 'f32') {
      const floats = new Float32Array(data.buffer, data.byteOffset, size / 4);
      for (let i = 0; i < floats.length; i++) floats[i] = tensor.dims.length === 1 ? 1 : (random.next() - 0.5) * 0.04;
    } else {
      for (let block = 0; block < size; block += 34) {
        data.writeUInt16LE(0x0a00, block); // float16 ≈ 1.8e-4: weights in ±0.023
        for (let i = 2; i < 34; i++) data[block + i] = (random.next() * 255) & 255;
      }
    }
    await file.write(data);
  }
  await file.close();
}

function tensorSpecs(
  { hidden, heads, kvHeads, headDim, intermediate, vocab, layers }: DecoderConfig,
  type: 'q8_0' | 'f32',
): TensorSpec[] {
  const matrix = (name: string, inFeatures: number, outFeatures: number): TensorSpec => ({
    name: `${name}.weight`,
    dims: [inFeatures, outFeatures],
    type,
  });
  const norm = (name: string, size: number): TensorSpec => ({ name: `${name}.weight`, dims: [size], type: 'f32' });
  const specs = [matrix('token_embd', hidden, vocab), norm('output_norm', hidden)];
  for (let layer = 0; layer < layers; layer++) {
    const at = (name: string) => `blk.${layer}.${name}`;
    specs.push(
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
  return specs;
}

function metadataOf(config: DecoderConfig): ((bytes: Bytes) => void)[] {
  const text = (key: string, value: string) => (b: Bytes) => (b.string(key), b.u32(TYPE.string), b.string(value));
  const u32 = (key: string, value: number) => (b: Bytes) => (b.string(key), b.u32(TYPE.u32), b.u32(value));
  const f32 = (key: string, value: number) => (b: Bytes) => (b.string(key), b.u32(TYPE.f32), b.f32(value));
  const strings = (key: string, values: readonly string[]) => (b: Bytes) => {
    b.string(key);
    b.u32(TYPE.array);
    b.u32(TYPE.string);
    b.u64(values.length);
    for (const value of values) b.string(value);
  };
  const kinds = (key: string, count: number) => (b: Bytes) => {
    b.string(key);
    b.u32(TYPE.array);
    b.u32(TYPE.i32);
    b.u64(count);
    for (let i = 0; i < count; i++) b.u32(i === 0 ? 3 : 1); // the first is a control token
  };
  const tokens = Array.from({ length: config.vocab }, (_, i) => (i === 0 ? '<|end|>' : `t${i}`));
  return [
    text('general.architecture', 'qwen3'),
    u32('qwen3.context_length', config.maxPositions),
    u32('qwen3.embedding_length', config.hidden),
    u32('qwen3.block_count', config.layers),
    u32('qwen3.feed_forward_length', config.intermediate),
    u32('qwen3.attention.head_count', config.heads),
    u32('qwen3.attention.head_count_kv', config.kvHeads),
    u32('qwen3.attention.key_length', config.headDim),
    u32('qwen3.attention.value_length', config.headDim),
    f32('qwen3.attention.layer_norm_rms_epsilon', config.normEpsilon),
    f32('qwen3.rope.freq_base', config.attention[0]!.rope!.theta),
    text('tokenizer.ggml.model', 'gpt2'),
    text('tokenizer.ggml.pre', 'qwen2'),
    strings('tokenizer.ggml.tokens', tokens),
    kinds('tokenizer.ggml.token_type', tokens.length),
    strings('tokenizer.ggml.merges', ['t 1']),
    u32('tokenizer.ggml.eos_token_id', 0),
  ];
}

const aligned = (size: number): number => Math.ceil(size / ALIGNMENT) * ALIGNMENT;

function sizeBytes({ dims, type }: TensorSpec): number {
  const count = dims.reduce((a, b) => a * b, 1);
  return type === 'f32' ? count * 4 : (count / 32) * 34;
}

class Bytes {
  readonly #parts: Buffer[] = [];

  raw(bytes: Buffer): void {
    this.#parts.push(bytes);
  }
  u32(value: number): void {
    const b = Buffer.alloc(4);
    b.writeUInt32LE(value);
    this.raw(b);
  }
  f32(value: number): void {
    const b = Buffer.alloc(4);
    b.writeFloatLE(value);
    this.raw(b);
  }
  u64(value: number): void {
    const b = Buffer.alloc(8);
    b.writeBigUInt64LE(BigInt(value));
    this.raw(b);
  }
  string(value: string): void {
    const b = Buffer.from(value);
    this.u64(b.length);
    this.raw(b);
  }
  done(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
