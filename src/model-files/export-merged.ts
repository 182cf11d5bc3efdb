// Merges an adapter into its base model: W + scale · B·A per adapted layer, written as a Hugging Face directory that loads
// without PEFT. Reads and writes one tensor at a time; everything that is not a weight is copied. If the adapter is on a head tied to
// the embedding, the merged model has two matrices: the embedding stays unchanged.
import { copyFile, cp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readBoundedText } from '#base/bounded-file';
import { invariant } from '#base/invariant';
import { makeDirectories } from '#base/make-directories';
import { unfinishedPath } from '#base/whole-file';
import { AppError } from '#domain/errors';
import { readDecoderConfig, type DecoderConfig } from './decoder-config.ts';
import { EMBEDDING_WEIGHT, HEAD_MODULE, HEAD_WEIGHT } from './decoder-parameters.ts';
import { isForeignWeights } from './foreign-formats.ts';
import { writeSafetensors, type StoredDtype } from './safetensors.ts';
import { openTensors } from './open-tensors.ts';
import { counted, type OnNumbers } from './counted-tensors.ts';
import { linearLayers, loraAName, loraBName, loraScale, type LoraAdapter, type LoraShape } from './lora.ts';
import { readPeftDirectory } from './peft-directory.ts';

export interface MergeRequest {
  /** Base model, Hugging Face layout. */
  readonly base: string;
  /** PEFT directory. */
  readonly adapter: string;
  /** Must not exist. Appears completely or not at all. */
  readonly out: string;
  readonly dtype: StoredDtype;
  readonly onNumbers?: OnNumbers;
}

const TORCH_DTYPE: Readonly<Record<StoredDtype, string>> = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' };
/** Chat templates beside the default one. */
const TEMPLATES = 'additional_chat_templates';
const COPIES = { recursive: true, dereference: true };
const OWN_WEIGHTS = /\.safetensors(?:\.index\.json)?$|^model\.gguf\.json$/;
/** Of the base, in any format: a loader could take them for the merged ones. */
const isWeights = (name: string): boolean => OWN_WEIGHTS.test(name) || isForeignWeights(name);

/** Throws `invalid_request` if `out` exists, `bad_model_files` for an adapter of another model. */
export async function exportMerged({
  base,
  adapter: adapterDirectory,
  out,
  dtype,
  onNumbers,
}: MergeRequest): Promise<void> {
  if (await readdir(out).catch(() => null)) {
    throw new AppError('invalid_request', `${out} already exists. Choose another directory.`);
  }
  const config = await readDecoderConfig(base);
  const layers = linearLayers(config);
  const adapter = await readPeftDirectory(adapterDirectory, layers);
  const source = await openTensors(base);
  const unfinished = unfinishedPath(out);
  await rm(unfinished, { recursive: true, force: true });
  await makeDirectories(unfinished);
  try {
    const tensors = mergedTensors(source.names(), config, adapter).map(({ name, from, path }) => ({
      name,
      shape: source.shape(from),
      dtype,
      data: async () => mergeAdapter(await source.read(from), path, source.shape(from), adapter),
    }));
    await writeSafetensors(join(unfinished, 'model.safetensors'), counted(tensors, onNumbers));
    for (const entry of await readdir(base, { withFileTypes: true })) {
      if (entry.name === TEMPLATES) await cp(join(base, TEMPLATES), join(unfinished, TEMPLATES), COPIES);
      if (entry.isDirectory() || entry.name === TEMPLATES || isWeights(entry.name) || entry.name === 'config.json')
        continue;
      await copyFile(join(base, entry.name), join(unfinished, entry.name)); // follows links: Hub caches consist of them
    }
    const json = withDtype(await readBoundedText(join(base, 'config.json')), TORCH_DTYPE[dtype]);
    await writeFile(join(unfinished, 'config.json'), untiesHead(config, adapter) ? withUntiedHead(json) : json);
    await rename(unfinished, out);
  } finally {
    await source.close();
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Whether the adapter is on a head that is tied to the embedding. */
export const untiesHead = ({ tiedEmbeddings }: DecoderConfig, { targets }: LoraShape): boolean =>
  tiedEmbeddings && targets.includes(HEAD_MODULE);

/** The tensors to write, each with the module whose adapter applies; includes a separate head if merging unties it. */
function mergedTensors(
  names: readonly string[],
  config: DecoderConfig,
  adapter: LoraShape,
): readonly { readonly name: string; readonly from: string; readonly path: string }[] {
  const unties = untiesHead(config, adapter);
  const kept = names.filter((name) => !unties || name !== HEAD_WEIGHT); // some files have a copy of a tied head
  const tensors = kept.map((name) => ({ name, from: name, path: name.replace(/\.weight$/, '') }));
  if (unties) tensors.push({ name: HEAD_WEIGHT, from: EMBEDDING_WEIGHT, path: HEAD_MODULE });
  return tensors;
}

/** Changes the text and not the parsed JSON, so that 30.0 is not written as 30, which Transformers refuses where it expects a float. */
const withDtype = (config: string, dtype: string): string =>
  config.replace(/("(?:torch_)?dtype"\s*:\s*)"[^"]*"/g, `$1"${dtype}"`);

function withUntiedHead(config: string): string {
  const tied = /("tie_word_embeddings"\s*:\s*)(?:true|null)/;
  return tied.test(config)
    ? config.replace(tied, '$1false')
    : config.replace('{', '{\n  "tie_word_embeddings": false,');
}

/** `[out, in]`; summed in float64, so that the result is rounded only once. */
export function mergeAdapter(
  weight: Float32Array,
  path: string,
  shape: readonly number[],
  { rank, tensors, ...adapter }: LoraAdapter,
): Float32Array {
  const [a, b] = [tensors.get(loraAName(path)), tensors.get(loraBName(path))];
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
