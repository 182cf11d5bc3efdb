// Exports a checkpoint for llama.cpp and tools based on it: a whole model, base and adapter in one file, or the adapter alone, for users who
// already have the base model as GGUF.
import { join } from 'node:path';
import { readBoundedText } from '#base/bounded-file';
import { pathExists } from '#base/path-exists';
import { AppError } from '#domain/errors';
import type { ConfigJson } from '../config-json.ts';
import { readDecoderConfig, type DecoderConfig } from '../decoder-config.ts';
import { EMBEDDING_WEIGHT, HEAD_WEIGHT } from '../decoder-parameters.ts';
import { counted, type OnNumbers } from '../counted-tensors.ts';
import { linearLayers, loraAName, loraBName, loraScale } from '../lora.ts';
import { mergeAdapter, untiesHead } from '../export-merged.ts';
import { openTensors } from '../open-tensors.ts';
import { readPeftDirectory } from '../peft-directory.ts';
import { ARCHITECTURES } from './architectures.ts';
import { f32, ggufArchitecture, modelMetadata, text, u32 } from './model-metadata.ts';
import type { WrittenType } from './quantize.ts';
import { ggufModule, ggufParameters, headsOf, isRouter, toPairs, type GgufParameter } from './tensor-layout.ts';
import { tokenizerMetadata } from './tokenizer-metadata.ts';
import { writeGguf, type TensorToWrite, type TypedValue } from './write-gguf.ts';

export interface GgufExport {
  /** Model directory. */
  readonly base: string;
  /** PEFT directory; null: the base model without adapter. */
  readonly adapter: string | null;
  /** Must not exist. Appears completely or not at all. */
  readonly out: string;
  /** The model's name, for people. */
  readonly name: string;
  readonly onNumbers?: OnNumbers;
}

const ALWAYS_TIED =
  'llama.cpp uses one matrix for embedding and head in models of this family, and this adapter changes only the head.';
/** llama.cpp looks for the adapted weight by name, and a tied head has none of its own. */
const NO_TIED_HEAD =
  'This adapter changes the head, which shares its matrix with the embedding, and llama.cpp cannot adapt only one of the two. Export the merged model.';

/** `general.file_type`: llama.h's number for the type of most tensors. */
const FILE_TYPE: Readonly<Record<WrittenType, number>> = { F32: 0, F16: 1, Q8_0: 7, BF16: 32 };

/** Vectors are F32, as llama.cpp requires, and so are matrices whose rows are not whole blocks. Throws `invalid_request`, `bad_model_files`. */
export async function exportGgufModel(
  { base, adapter, out, name, onNumbers }: GgufExport,
  type: WrittenType,
): Promise<void> {
  await refuseExisting(out);
  const found = await readDecoderConfig(base);
  const lora = adapter === null ? null : await readPeftDirectory(adapter, linearLayers(found));
  const unties = lora !== null && untiesHead(found, lora);
  const config = unties ? { ...found, tiedEmbeddings: false } : found;
  if (unties && ARCHITECTURES[ggufArchitecture(config)]!.alwaysTied)
    throw new AppError(
      'invalid_request',
      `${ALWAYS_TIED} Export the merged model as safetensors, or the adapter for PEFT.`,
    );
  const json = JSON.parse(await readBoundedText(join(base, 'config.json'))) as ConfigJson;
  const { architecture, values, tensors: extras } = modelMetadata(config, json);
  const tokenizer = await tokenizerMetadata(base, config.vocab);
  const source = await openTensors(base);
  const typeOf = (shape: readonly number[]): WrittenType =>
    shape.length === 1 || (type === 'Q8_0' && shape.at(-1)! % 32 !== 0) ? 'F32' : type;
  try {
    const read = async ({ name: parameter, shape, heads, plusOne }: GgufParameter): Promise<Float32Array> => {
      const unadapted = await source.read(unties && parameter === HEAD_WEIGHT ? EMBEDDING_WEIGHT : parameter);
      const weight =
        lora === null ? unadapted : mergeAdapter(unadapted, parameter.replace(/\.weight$/, ''), shape, lora);
      if (plusOne) return weight.map((value) => value + 1);
      return isInterleaved(architecture) && heads !== null ? toPairs(weight, heads, shape[0]!) : weight;
    };
    const tensors = stacksOf(ggufParameters(config)).map((stack): TensorToWrite => {
      const { gguf, expert, shape } = stack[0]!;
      return {
        name: gguf,
        shape: expert === null ? shape : [stack.length, ...shape],
        type: isRouter(gguf) ? 'F32' : typeOf(shape),
        data: () => (expert === null ? read(stack[0]!) : readStack(stack, read)),
      };
    });
    const factors = [...extras].map(([gguf, factor]): TensorToWrite => ({
      name: gguf,
      shape: [factor.length],
      type: 'F32',
      data: () => Promise.resolve(Float32Array.from(factor)),
    }));
    const general = {
      ...generalValues(architecture, 'model', name),
      'general.file_type': u32(FILE_TYPE[type]),
      'general.quantization_version': u32(2),
    };
    await writeGguf(out, { ...general, ...values, ...tokenizer }, counted([...factors, ...tensors], onNumbers));
  } finally {
    await source.close();
  }
}

/** In float32. llama.cpp multiplies by alpha / rank, so alpha is chosen to give the adapter's scale. */
export async function exportGgufAdapter({ base, adapter, out, name }: GgufExport & { adapter: string }): Promise<void> {
  await refuseExisting(out);
  const config = await readDecoderConfig(base);
  const layers = linearLayers(config);
  const lora = await readPeftDirectory(adapter, layers);
  if (untiesHead(config, lora)) throw new AppError('invalid_request', NO_TIED_HEAD);
  const architecture = ggufArchitecture(config);
  const tensors = layers
    .filter(({ target }) => lora.targets.includes(target))
    .flatMap(({ path, inFeatures, outFeatures }): TensorToWrite[] => [
      {
        name: `${ggufModule(path, config)}.weight.lora_a`,
        shape: [lora.rank, inFeatures],
        type: 'F32',
        data: () => Promise.resolve(lora.tensors.get(loraAName(path))!),
      },
      {
        name: `${ggufModule(path, config)}.weight.lora_b`,
        shape: [outFeatures, lora.rank],
        type: 'F32',
        data: () =>
          Promise.resolve(rowsAsThere(lora.tensors.get(loraBName(path))!, path, outFeatures, config, architecture)),
      },
    ]);
  const metadata = {
    ...generalValues(architecture, 'adapter', name),
    'adapter.type': text('lora'),
    'adapter.lora.alpha': f32(loraScale(lora) * lora.rank),
  };
  await writeGguf(out, metadata, tensors);
}

/** Parameters that form one tensor in the file, in its order: the experts of a layer. */
function stacksOf(parameters: readonly GgufParameter[]): readonly (readonly GgufParameter[])[] {
  const stacks = new Map<string, GgufParameter[]>();
  for (const parameter of parameters) {
    const stack = stacks.get(parameter.gguf);
    if (stack) stack.push(parameter);
    else stacks.set(parameter.gguf, [parameter]);
  }
  return [...stacks.values()];
}

async function readStack(
  stack: readonly GgufParameter[],
  read: (parameter: GgufParameter) => Promise<Float32Array>,
): Promise<Float32Array> {
  const size = stack[0]!.shape.reduce((product, length) => product * length, 1);
  const values = new Float32Array(stack.length * size);
  for (const [place, parameter] of stack.entries()) values.set(await read(parameter), place * size);
  return values;
}

/** B has the weight's rows. */
function rowsAsThere(
  b: Float32Array,
  path: string,
  rows: number,
  config: DecoderConfig,
  architecture: string,
): Float32Array {
  const heads = headsOf(`${path}.weight`, config);
  return isInterleaved(architecture) && heads !== null ? toPairs(b, heads, rows) : b;
}

const isInterleaved = (architecture: string): boolean => ARCHITECTURES[architecture]!.interleaved;

const generalValues = (architecture: string, type: string, name: string): Record<string, TypedValue> => ({
  'general.architecture': text(architecture),
  'general.type': text(type),
  'general.name': text(name),
});

async function refuseExisting(out: string): Promise<void> {
  if (await pathExists(out)) throw new AppError('invalid_request', `${out} already exists. Choose another file name.`);
}
