// A decoder with random weights, written to disk as Hugging Face would: small enough for any test, real enough for every
// code path (grouped queries, q/k norms, tied or untied head). And adapters for it. Equal seeds give equal files.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '#base/random';
import type { AdapterRef } from '#engine/inference-engine';
import { createLoraAdapter, linearLayers } from '#model-files/lora';
import { writePeftDirectory } from '#model-files/peft-directory';
import { parseDecoderConfig, type DecoderConfig } from '#model-files/decoder-config';
import { decoderParameters } from '#model-files/decoder-parameters';
import { writeSafetensors } from '#model-files/safetensors';

const CONFIGS = {
  qwen3: { model_type: 'qwen3', architectures: ['Qwen3ForCausalLM'], head_dim: 16, tie_word_embeddings: true },
  llama: { model_type: 'llama', architectures: ['LlamaForCausalLM'], tie_word_embeddings: false },
  gemma2: {
    model_type: 'gemma2',
    architectures: ['Gemma2ForCausalLM'],
    head_dim: 16,
    query_pre_attn_scalar: 16,
    sliding_window: 100,
    attn_logit_softcapping: 5,
    final_logit_softcapping: 10,
  },
} as const;

export interface TinyModel {
  readonly directory: string;
  readonly config: DecoderConfig;
  /** A random adapter that changes the output: B is not zero, but random times `scale`. */
  writeAdapter(name: string, options: { seed: number; rank?: number; scale?: number }): Promise<AdapterRef>;
  remove(): Promise<void>;
}

export async function writeTinyModel(
  family: keyof typeof CONFIGS = 'qwen3',
  seed = 1,
  maxPositions = 512,
  changes: { readonly head_dim?: number } = {},
): Promise<TinyModel> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-tiny-'));
  const json = {
    hidden_size: 32,
    num_hidden_layers: 2,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    intermediate_size: 48,
    vocab_size: 260,
    max_position_embeddings: maxPositions,
    rms_norm_eps: 1e-6,
    ...CONFIGS[family],
    ...changes,
  };
  const config = parseDecoderConfig(json);
  await writeFile(join(directory, 'config.json'), JSON.stringify(json));
  const random = createRandom(seed);
  const tensors = decoderParameters(config).map(({ name, shape }) => ({
    name,
    shape,
    dtype: 'F32' as const,
    data: Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () =>
      name.includes('norm') ? 0.75 + random.next() / 2 : (random.next() - 0.5) * 0.7,
    ),
  }));
  await writeSafetensors(join(directory, 'model.safetensors'), tensors);
  return {
    directory,
    config,
    async writeAdapter(name, { seed: adapterSeed, rank = 4, scale = 0.5 }) {
      const layers = linearLayers(config);
      const adapter = createLoraAdapter(layers, { rank, alpha: rank * 2, seed: adapterSeed });
      const adapterRandom = createRandom(adapterSeed + 1_000);
      for (const [tensor, data] of adapter.tensors) {
        if (tensor.includes('lora_B')) data.forEach((_, i) => (data[i] = (adapterRandom.next() - 0.5) * scale));
      }
      const adapterDirectory = join(directory, name);
      await mkdir(adapterDirectory);
      await writePeftDirectory(adapterDirectory, adapter, layers, 'tiny');
      return { id: name, directory: adapterDirectory };
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
