// A model directory in Hugging Face layout with random weights, created once per run in a temporary directory.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '#base/random';
import type { Experts } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import { decoderParameters } from '#model-files/decoder-parameters';
import { writeSafetensors } from '#model-files/safetensors';

/** Drawn once and reused at different offsets: a billion draws take a minute. */
const NOISE_LENGTH = 2 ** 22;

export function configJson(config: DecoderConfig): Record<string, unknown> {
  return {
    architectures: ['Qwen3ForCausalLM'],
    model_type: config.family,
    hidden_size: config.hidden,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headDim,
    intermediate_size: config.intermediate,
    vocab_size: config.vocab,
    max_position_embeddings: config.maxPositions,
    rms_norm_eps: config.normEpsilon,
    rope_theta: config.attention[0]!.rope!.theta,
    tie_word_embeddings: config.tiedEmbeddings,
    ...(config.experts ? expertsJson(config.experts) : {}),
  };
}

const expertsJson = ({ count, perToken, intermediate, normalized, layers }: Experts) => ({
  num_experts: count,
  num_experts_per_tok: perToken,
  moe_intermediate_size: intermediate,
  norm_topk_prob: normalized,
  mlp_only_layers: [...layers.keys()].filter((layer) => !layers[layer]),
});

/** `json`: config.json of a model other than Qwen3. */
export async function makeModelDirectory(config: DecoderConfig, json = configJson(config)): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-bench-model-'));
  await writeFile(join(directory, 'config.json'), JSON.stringify(json));
  const random = createRandom(1);
  const noise = Float32Array.from({ length: NOISE_LENGTH }, () => (random.next() - 0.5) * 0.04);
  const tensors = decoderParameters(config).map(({ name, shape }) => {
    const data = () => {
      const values = new Float32Array(shape.reduce((a, b) => a * b, 1));
      if (shape.length === 1) return Promise.resolve(values.fill(1));
      for (let at = 0, length = 0; at < values.length; at += length) {
        const from = random.integer(NOISE_LENGTH);
        length = Math.min(NOISE_LENGTH - from, values.length - at);
        values.set(noise.subarray(from, from + length), at);
      }
      return Promise.resolve(values);
    };
    return { name, shape, data, dtype: 'BF16' as const };
  });
  await writeSafetensors(join(directory, 'model.safetensors'), tensors);
  return directory;
}
