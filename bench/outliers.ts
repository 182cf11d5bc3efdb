// A model that computes the same function in float32 but is harder to quantize: in every layer some input channels of the linear layers are
// scaled up, and the weights that read them scaled down by as much. Trained models of billions of parameters have such channels naturally
// (LLM.int8(), arXiv:2208.07339 §4); the models at hand do not.
import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDecoderConfig, type DecoderConfig } from '#model-files/decoder-config';
import { decoderParameters, layerPrefix } from '#model-files/decoder-parameters';
import { openSafetensors, writeSafetensors } from '#model-files/safetensors';

/** Scaled up: every SPACING-th channel. */
const SPACING = 61;

/** For Llama's layout: norms before attention and MLP with a plain factor as weight, and projections that are not fused. */
export async function writeWithOutliers(modelDirectory: string, factor: number): Promise<string> {
  const config = await readDecoderConfig(modelDirectory);
  const source = await openSafetensors(modelDirectory);
  const weights = new Map<string, Float32Array>();
  for (const { name } of decoderParameters(config)) weights.set(name, await source.read(name));
  await source.close();
  for (let layer = 0; layer < config.layers; layer++) enlarge(weights, config, layer, factor);
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-outliers-'));
  await copyFile(join(modelDirectory, 'config.json'), join(directory, 'config.json'));
  const tensors = decoderParameters(config).map(({ name, shape }) => ({
    name,
    shape,
    data: weights.get(name)!,
    dtype: 'F32' as const,
  }));
  await writeSafetensors(join(directory, 'model.safetensors'), tensors);
  return directory;
}

function enlarge(weights: Map<string, Float32Array>, config: DecoderConfig, layer: number, factor: number): void {
  const own = (name: string) => `${layerPrefix(layer)}.${name}.weight`;
  const scaled = (name: string, factorAt: (index: number) => number): void =>
    void weights.set(
      own(name),
      weights.get(own(name))!.map((value, index) => value * factorAt(index)),
    );
  const isOutlier = (channel: number) => channel % SPACING === layer % SPACING;
  const rows = (name: string, width: number) =>
    scaled(name, (index) => (isOutlier(Math.floor(index / width)) ? factor : 1));
  const columns = (name: string, width: number) => scaled(name, (index) => (isOutlier(index % width) ? 1 / factor : 1));
  const { hidden, intermediate } = config;
  rows('input_layernorm', 1);
  for (const name of ['q_proj', 'k_proj', 'v_proj']) columns(`self_attn.${name}`, hidden);
  rows('post_attention_layernorm', 1);
  for (const name of ['gate_proj', 'up_proj']) columns(`mlp.${name}`, hidden);
  rows('mlp.up_proj', hidden);
  columns('mlp.down_proj', intermediate);
}
