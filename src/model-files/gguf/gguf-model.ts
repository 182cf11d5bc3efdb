// A GGUF file as a model directory: small files with its configuration and tokenizer in Hugging Face's form, and one that names the
// GGUF file, from which weights are read when needed. The directory's name is a hash of its contents, which never change.
import { createHash } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readBoundedText } from '#base/bounded-file';
import { pathExists } from '#base/path-exists';
import { AppError } from '#domain/errors';
import { parseDecoderConfig, readDecoderConfig, type DecoderConfig } from '../decoder-config.ts';
import type { TensorSource } from '../safetensors.ts';
import { ARCHITECTURES, configOf, type RopeFactors } from './architectures.ts';
import { ggmlTypeName } from './ggml-types.ts';
import { openGgufFile, readGgufFile, type GgufBytes, type GgufFile } from './gguf-file.ts';
import type { GgufTensor } from './gguf-header.ts';
import { tokenizerOf } from './gguf-tokenizer.ts';
import { readMetadata, type Metadata } from './metadata.ts';
import { fromPairs, ggufParameters, type GgufParameter } from './tensor-layout.ts';

/** A file in the model directory that names the GGUF file with the weights and its architecture. */
const GGUF_POINTER = 'model.gguf.json';

export interface GgufPointer {
  readonly file: string;
  readonly architecture: string;
}

/**
 * Creates the model directory of the file at `path`, below `directory`. `file`: a source to read instead, if the file at `path` is not
 * complete yet; it is closed. Throws `bad_model_files`.
 */
export async function makeGgufDirectory(path: string, directory: string, file?: GgufBytes): Promise<string> {
  const whole = resolve(path);
  const files = await describe(whole, file ? await readGgufFile(file) : await openGgufFile(whole), file?.name);
  const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
  const target = join(directory, hash);
  if (await pathExists(target)) return target;
  const unfinished = `${target}.${process.pid}.partial`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(unfinished, name), text);
  await rename(unfinished, target).catch(async (error: unknown) => {
    await rm(unfinished, { recursive: true, force: true });
    if (!(await pathExists(target))) throw error; // else another process was faster
  });
  return target;
}

/** File name → text. */
async function describe(path: string, file: GgufFile, name = path): Promise<Record<string, string>> {
  try {
    const metadata = readMetadata(file.metadata, name);
    const ropeFactors = await readRopeFactors(file);
    const config = configOf(metadata, { tensors: file.tensors, ropeFactors });
    refuseUnread(metadata, file, parseDecoderConfig(config, name));
    const { tokenizer, tokenizerConfig, generationConfig } = tokenizerOf(metadata);
    const pointer: GgufPointer = { file: path, architecture: metadata.architecture };
    const model = { 'config.json': config, 'generation_config.json': generationConfig, [GGUF_POINTER]: pointer };
    const all = { ...model, 'tokenizer.json': tokenizer, 'tokenizer_config.json': tokenizerConfig };
    const texts = Object.entries(all).map(([name, value]) => [name, `${JSON.stringify(value)}\n`] as const);
    return Object.fromEntries(texts.map(([name, text]) => [name, name === 'config.json' ? withFloats(text) : text]));
  } finally {
    await file.close();
  }
}

/** Transformers refuses 30 where it expects a float. */
const withFloats = (config: string): string =>
  config.replace(/("(?:\w+_softcapping|rms_norm_eps|(?:\w+_)?factor|beta_\w+)":-?\d+)(?=[,}])/g, '$1.0');

const ROPE_FACTORS = ['rope_factors_long.weight', 'rope_factors_short.weight', 'rope_freqs.weight'];

/** Like llama.cpp, takes no file with a tensor that nothing reads: the model would compute something else. */
function refuseUnread(metadata: Metadata, { tensors }: GgufFile, config: DecoderConfig): void {
  const parameters = ggufParameters(config).flatMap(({ gguf, expert }) => (expert ? [gguf, expert.alone] : [gguf]));
  const head = ARCHITECTURES[metadata.architecture]!.alwaysTied ? ['output.weight'] : [];
  const read = new Set([...parameters, ...head, ...ROPE_FACTORS]);
  const unread = [...tensors.keys()].find((name) => !read.has(name));
  if (unread === undefined) return;
  throw metadata.refuse(
    `its tensor ${unread} has no place in ${metadata.architecture} as it is supported here, and the model computes something else without it`,
  );
}

async function readRopeFactors(file: GgufFile): Promise<RopeFactors | null> {
  const [long, short, same] = await Promise.all(
    ROPE_FACTORS.map(async (name) => (file.tensors.has(name) ? [...(await file.read(name))] : null)),
  );
  const used = short ?? same;
  return used ? { short: used, long: long ?? used } : null;
}

/** Null: `directory` does not belong to a GGUF file. */
export async function findGgufPointer(directory: string): Promise<GgufPointer | null> {
  const text = await readBoundedText(join(directory, GGUF_POINTER)).catch(() => null);
  return text === null ? null : (JSON.parse(text) as GgufPointer);
}

/** Weights by their Hugging Face names, as float32. Null: `directory` does not belong to a GGUF file. */
export async function openGgufTensors(directory: string): Promise<TensorSource | null> {
  const pointer = await findGgufPointer(directory);
  if (pointer === null) return null;
  const { file: path, architecture } = pointer;
  const config = await readDecoderConfig(directory);
  const { interleaved } = ARCHITECTURES[architecture]!;
  const parameters = new Map(ggufParameters(config).map((parameter) => [parameter.name, parameter]));
  const file = await openGgufFile(path);
  const find = (name: string) => {
    const parameter = parameters.get(name);
    const place = parameter && placeIn(file, parameter);
    if (!place) throw new AppError('bad_model_files', `No tensor ${parameter?.gguf ?? name} in ${path}.`);
    return { parameter, ...place };
  };
  const has = (name: string): boolean => parameters.has(name) && placeIn(file, parameters.get(name)!) !== null;
  return {
    names: () => [...parameters.keys()].filter(has).sort(),
    has,
    shape: (name) => find(name).shape,
    dtype: (name) => ggmlTypeName(find(name).tensor.type),
    async read(name, rows) {
      const { parameter, tensor, shape, firstRow } = find(name);
      if (interleaved && parameter.heads !== null) {
        // Restoring the order reorders the rows of a head, so this reads the whole tensor, which is small compared to the largest.
        const values = fromPairs(await file.read(tensor.name), parameter.heads, shape[0]!);
        const rowSize = values.length / shape[0]!;
        return rows ? values.slice(rows.first * rowSize, (rows.first + rows.count) * rowSize) : values;
      }
      // A range of a vector may start inside a block, so vectors are read whole.
      const ranged = shape.length > 1 ? rows : undefined;
      const { first, count } = ranged ?? { first: 0, count: shape[0]! };
      const values = await file.read(tensor.name, { first: firstRow + first, count });
      const selected = rows && !ranged ? values.subarray(rows.first, rows.first + rows.count) : values;
      return parameter.plusOne ? selected.map((value) => value - 1) : selected;
    },
    close: () => file.close(),
  };
}

interface TensorPlace {
  readonly tensor: GgufTensor;
  /** The shape of the parameter, which may be one of a stack. */
  readonly shape: readonly number[];
  /** The parameter's first row in the tensor. */
  readonly firstRow: number;
}

function placeIn({ tensors }: GgufFile, { gguf, expert }: GgufParameter): TensorPlace | null {
  const tensor = tensors.get(gguf);
  if (tensor && expert) {
    const [count, ...shape] = tensor.shape;
    return expert.place < count! ? { tensor, shape, firstRow: expert.place * shape[0]! } : null;
  }
  const alone = tensor ?? tensors.get(expert?.alone ?? '');
  return alone ? { tensor: alone, shape: alone.shape, firstRow: 0 } : null;
}
