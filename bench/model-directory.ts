// A model directory in Hugging Face layout with random weights, made once per run in a temporary place.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '#base/random';
import type { Experts } from '#model-files/block';
import type { DecoderConfig } from '#model-files/decoder-config';
import { decoderParameters } from '#model-files/decoder-parameters';
import { writeSafetensors } from '#model-files/safetensors';

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

export async function makeModelDirectory(config: DecoderConfig): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-bench-model-'));
  await writeFile(join(directory, 'config.json'), JSON.stringify(configJson(config)));
  const random = createRandom(1);
  const tensors = decoderParameters(config).map(({ name, shape }) => {
    const data = () => {
      const values = new Float32Array(shape.reduce((a, b) => a * b, 1));
      for (let i = 0; i < values.length; i++) values[i] = shape.length === 1 ? 1 : (random.next() - 0.5) * 0.04;
      return Promise.resolve(values);
    };
    return { name, shape, data, dtype: 'BF16' as const };
  });
  await writeSafetensors(join(directory, 'model.safetensors'), tensors);
  return directory;
}
