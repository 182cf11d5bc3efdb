// An adapter folded into its base model: W + scale · B·A per adapted layer, written as a Hugging Face directory that loads
// without PEFT. Reads and writes one tensor at a time; everything that is not a weight is copied.
import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { invariant } from '#base/invariant';
import { AppError } from '#domain/errors';
import { readDecoderConfig } from './decoder-config.ts';
import { writeSafetensors, type StoredDtype } from './safetensors.ts';
import { openTensors } from './open-tensors.ts';
import { counted, type OnNumbers } from './counted-tensors.ts';
import { linearLayers, loraAName, loraBName, loraScale, type LoraAdapter } from './lora.ts';
import { readPeftDirectory } from './peft-directory.ts';

export interface MergeRequest {
  /** Base model, Hugging Face layout. */
  readonly base: string;
  /** PEFT directory. */
  readonly adapter: string;
  /** Is made; must not be there. Appears whole or not at all. */
  readonly out: string;
  readonly dtype: StoredDtype;
  readonly onNumbers?: OnNumbers;
}

const TORCH_DTYPE: Readonly<Record<StoredDtype, string>> = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' };
const IS_WEIGHTS = /\.safetensors(?:\.index\.json)?$|^model\.gguf\.json$/;

/** Throws `invalid_request` where `out` is there, `bad_model_files` for an adapter of another model. */
export async function exportMerged({
  base,
  adapter: adapterDirectory,
  out,
  dtype,
  onNumbers,
}: MergeRequest): Promise<void> {
  if (await readdir(out).catch(() => null)) {
    throw new AppError('invalid_request', `${out} is there already. Name a directory that is not.`);
  }
  const layers = linearLayers(await readDecoderConfig(base));
  const adapter = await readPeftDirectory(adapterDirectory, layers);
  const source = await openTensors(base);
  const unfinished = `${out}.partial`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  try {
    const byWeight = new Map(layers.map((layer) => [`${layer.path}.weight`, layer.path]));
    const tensors = source.names().map((name) => ({
      name,
      shape: source.shape(name),
      dtype,
      data: async () => mergeAdapter(await source.read(name), byWeight.get(name), source.shape(name), adapter),
    }));
    await writeSafetensors(join(unfinished, 'model.safetensors'), counted(tensors, onNumbers));
    for (const entry of await readdir(base, { withFileTypes: true })) {
      if (entry.isDirectory() || IS_WEIGHTS.test(entry.name) || entry.name === 'config.json') continue;
      await copyFile(join(base, entry.name), join(unfinished, entry.name)); // follows links: Hub caches are made of them
    }
    const config = await readFile(join(base, 'config.json'), 'utf8');
    await writeFile(join(unfinished, 'config.json'), withDtype(config, TORCH_DTYPE[dtype]));
    await rename(unfinished, out);
  } finally {
    await source.close();
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** In the text, so that 30.0 is not written as 30, which Transformers refuses where it wants a float. */
const withDtype = (config: string, dtype: string): string =>
  config.replace(/("(?:torch_)?dtype"\s*:\s*)"[^"]*"/g, `$1"${dtype}"`);

/** `[out, in]`; summed in float64, so that only the last rounding is ours. */
export function mergeAdapter(
  weight: Float32Array,
  path: string | undefined,
  shape: readonly number[],
  { rank, tensors, ...adapter }: LoraAdapter,
): Float32Array {
  const [a, b] = path === undefined ? [] : [tensors.get(loraAName(path)), tensors.get(loraBName(path))];
  if (!a || !b) return weight;
  const [outFeatures, inFeatures] = shape as [number, number];
  invariant(a.length === rank * inFeatures && b.length === outFeatures * rank, `the adapter of ${path} fits its layer`);
  const scale = loraScale({ rank, ...adapter });
  const merged = new Float32Array(weight.length);
  for (let o = 0; o < outFeatures; o++) {
    for (let i = 0; i < inFeatures; i++) {
      let delta = 0;
      for (let r = 0; r < rank; r++) delta += b[o * rank + r]! * a[r * inFeatures + i]!;
      merged[o * inFeatures + i] = weight[o * inFeatures + i]! + scale * delta;
    }
  }
  return merged;
}
