// Recognizes what users pass to --model although it is not a Transformers model: adapters, single files, other formats. Returns one
// sentence with what to do, from file names alone.
import { basename, extname } from 'node:path';

const OTHER_WEIGHTS: readonly (readonly [files: RegExp, says: string])[] = [
  [/\.gguf$/, 'is an auxiliary GGUF file (mmproj, imatrix, mtp), not a model. Give the GGUF file of the model'],
  [
    /^pytorch_model.*\.bin$|\.pt$|\.pth$/,
    'has only pickled PyTorch weights, which may contain code and are not read. Load it with Transformers and save it with save_pretrained, which writes safetensors',
  ],
  [
    /\.(?:h5|msgpack|onnx|ot|npz|mlmodelc|mlpackage)$/,
    'has no weights in safetensors. Save it with save_pretrained of Transformers, which writes them',
  ],
];

/** Weights that are not read, whole or in parts, or their index. */
export const isForeignWeights = (name: string): boolean =>
  OTHER_WEIGHTS.some(([files]) => files.test(name)) || /\.(?:bin|h5|msgpack)\.index\.json$|\.onnx_data$/.test(name);

/** A GGUF model. Excludes image projectors (mmproj), draft heads (mtp) and importance matrices (imatrix). */
export const isGguf = (name: string): boolean => /\.gguf$/i.test(name) && !/mmproj|imatrix|^mtp-/i.test(basename(name));

/** `path` is a file. Returns null if it does not look like a model of another format. */
export function foreignFile(path: string): string | null {
  if (extname(path) === '.safetensors')
    return `${path} is only a file of weights. Give its directory, which also needs config.json and tokenizer.json.`;
  const other = OTHER_WEIGHTS.find(([files]) => files.test(path));
  return other ? `${path} ${other[1]}.` : null;
}

/** `names` are all files of a directory or a repository; null: no known problem, or it contains a model. */
export function foreignFormat(where: string, names: readonly string[], adapterBase: string | null): string | null {
  const has = (name: RegExp) => names.some((each) => name.test(each));
  if (has(/^adapter_config\.json$/) && !has(/^model.*\.safetensors$/)) {
    const base = adapterBase ?? 'the base model that adapter_config.json names';
    return `${where} is a PEFT adapter, not a model. Start with --model ${base}, and pass a directory with these files to --adapter.`;
  }
  if (has(/^model_index\.json$/)) return `${where} is a Diffusers pipeline, not a language model.`;
  if (!has(/^model.*\.safetensors$/)) {
    const other = OTHER_WEIGHTS.find(([files]) => has(files));
    if (other) return `${where} ${other[1]}.`;
    if (has(/^consolidated.*\.safetensors$/))
      return `${where} has weights in Mistral's own layout only (consolidated.safetensors). Use the files in Hugging Face's layout, with config.json and model.safetensors.`;
  }
  if (!has(/^tokenizer\.json$/) && has(/^(?:tokenizer\.model|spiece\.model|tekken\.json|vocab\.json)$/))
    return `${where} has no tokenizer.json, only a tokenizer in an older format. Load it with AutoTokenizer of Transformers and save it with save_pretrained, which writes tokenizer.json.`;
  return null;
}
