// A model's weights as the constants of a graph: weights of large models are in a file that ONNX Runtime maps, made once per layout
// and kept (weight-file.ts); those of small models are in memory, where a file gains nothing. Knows no graph.
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '#domain/errors';
import { checkParameters } from '#model-files/decoder-parameters';
import { openTensors } from '#model-files/open-tensors';
import type { TensorSource } from '#model-files/safetensors';
import {
  BYTES_PER_ELEMENT,
  type Dtype,
  type FileRange,
  type InitializerData,
  type StoredTensor,
} from '../graph/graph.ts';
import type { EncodedPart, EncodedSpec, WeightRows } from './encodings.ts';
import { sizeOf } from './fused-parameters.ts';
import { markSource } from './source-mark.ts';
import { ensureWeightFile, type Put } from './weight-file.ts';
import type { WeightSpec } from './weight-layout.ts';

export interface Weights {
  /** Returns the tensor by its encoded name. */
  get(name: string): StoredTensor;
  /** Call before a graph is compiled: restores the file if it was deleted. Throws `bad_model_files` if the model has changed. */
  ensure(): Promise<void>;
}

/** Where the files of large models are kept, and from which size a model counts as large. */
export interface WeightsPlace {
  /** Default: `whetstone/weights` in XDG_CACHE_HOME. */
  readonly directory?: string;
  /** Default: 64 MB. */
  readonly inMemoryBytesMax?: number;
}

export interface WeightsOptions extends WeightsPlace {
  readonly modelDirectory: string;
  readonly layout: readonly WeightSpec[];
  /** Called with bytes done and total while the file is made. */
  readonly onBytes?: (done: number, of: number) => void;
  /** Stops making the file and deletes what was written. */
  readonly signal?: AbortSignal;
}

/** Must change when the positions of tensors in the file change. */
const FILE_VERSION = 1;
const IN_MEMORY_BYTES_MAX = 64_000_000;
/** The page size: each tensor is mapped separately. */
const ALIGNMENT = 4096;
/** Numbers read at a time: 32 MB as float32, a fraction of a large embedding. */
const PIECE_ELEMENTS = 2 ** 23;

/** Codes: `bad_model_files`, `engine_unavailable` (disk full, or no writable directory). */
export async function openWeights(options: WeightsOptions): Promise<Weights> {
  const { modelDirectory, layout, directory = defaultDirectory(), onBytes = () => {}, signal } = options;
  const placed = placeTensors(layout);
  const { places, byteLength } = placed;
  if (!isKeptInFile(layout, options.inMemoryBytesMax)) return readIntoMemory(modelDirectory, layout, placed);
  const source = await markSource(modelDirectory);
  const path = join(directory, fileName(layout, source));
  const write = (put: Put) =>
    withSource(modelDirectory, (tensors) =>
      writeWeights(tensors, layout, places, (bytes, at) => {
        signal?.throwIfAborted();
        return put(bytes, at);
      }),
    );
  await ensureWeightFile({ path, byteLength, onBytes, write });
  return {
    get: (name) => {
      const { spec, range } = find(places, name);
      return { ...spec, data: { path, ...range } };
    },
    ensure: () =>
      ensureWeightFile({
        path,
        byteLength,
        onBytes,
        async write(put) {
          if ((await markSource(modelDirectory)) !== source)
            throw new AppError(
              'bad_model_files',
              `The weights in ${modelDirectory} have changed since they were loaded. Start the server again to use them.`,
            );
          await write(put);
        },
      }),
  };
}

/** False for small models, whose weights stay in memory. */
export const isKeptInFile = (layout: readonly WeightSpec[], inMemoryBytesMax = IN_MEMORY_BYTES_MAX): boolean =>
  placeTensors(layout).byteLength > inMemoryBytesMax;

/** Layouts with equal keys share one file. */
export const layoutKey = (layout: readonly WeightSpec[]): string => JSON.stringify(namedTensors(layout));

const namedTensors = (layout: readonly WeightSpec[]) =>
  layout.map(({ name, shape, parts, encoding }) => [name, shape, parts, encoding.id]);

const defaultDirectory = (): string =>
  join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'whetstone', 'weights');

interface TensorLocation {
  readonly spec: EncodedSpec;
  readonly range: Omit<FileRange, 'path'>;
}

interface Placed {
  readonly places: ReadonlyMap<string, TensorLocation>;
  readonly byteLength: number;
}

function placeTensors(layout: readonly WeightSpec[]): Placed {
  const places = new Map<string, TensorLocation>();
  let at = 0;
  for (const { name, shape, encoding } of layout) {
    for (const spec of encoding.specs(name, shape)) {
      const byteLength = sizeOf(spec.shape) * BYTES_PER_ELEMENT[spec.dtype];
      places.set(spec.name, { spec, range: { offset: at, byteLength } });
      at += Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT;
    }
  }
  return { places, byteLength: at };
}

function fileName(layout: readonly WeightSpec[], source: string): string {
  const key = createHash('sha256')
    .update(JSON.stringify([FILE_VERSION, source, namedTensors(layout)]))
    .digest('hex');
  const encodings = [...new Set(layout.map(({ encoding }) => encoding.id))].join('-');
  return `${encodings}-${key.slice(0, 32)}.weights`;
}

/** Reads the weights into one buffer with the layout of the file. */
async function readIntoMemory(
  modelDirectory: string,
  layout: readonly WeightSpec[],
  { places, byteLength }: Placed,
): Promise<Weights> {
  const memory = new Uint8Array(byteLength);
  const put: Put = (bytes, at) => Promise.resolve(memory.set(bytes, at));
  await withSource(modelDirectory, (source) => writeWeights(source, layout, places, put));
  const get = (name: string): StoredTensor => {
    const { spec, range } = find(places, name);
    return { ...spec, data: viewAs(spec.dtype, memory.buffer, range) };
  };
  return { get, ensure: () => Promise.resolve() };
}

function viewAs(dtype: Dtype, buffer: ArrayBuffer, { offset, byteLength }: TensorLocation['range']): InitializerData {
  if (dtype === 'float32') return new Float32Array(buffer, offset, byteLength / 4);
  return dtype === 'int8' ? new Int8Array(buffer, offset, byteLength) : new Uint8Array(buffer, offset, byteLength);
}

function find<T>(tensors: ReadonlyMap<string, T>, name: string): T {
  const found = tensors.get(name);
  if (!found) throw new Error(`no weight ${name} in this layout`);
  return found;
}

async function writeWeights(
  source: TensorSource,
  layout: readonly WeightSpec[],
  places: ReadonlyMap<string, TensorLocation>,
  put: Put,
): Promise<void> {
  for await (const { spec, at, data } of encodeWeights(source, layout)) {
    const { offset } = find(places, spec.name).range;
    await put(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), offset + at * data.BYTES_PER_ELEMENT);
  }
}

/** Holds some rows of one weight in memory at a time; checks all weights before the first. */
async function* encodeWeights(
  source: TensorSource,
  layout: readonly WeightSpec[],
): AsyncGenerator<Omit<EncodedPart, 'tensor'> & { readonly spec: EncodedSpec }> {
  checkParameters(
    source,
    layout.flatMap(({ parts }) => parts),
  );
  const sizes = layout.flatMap(({ parts }) => parts.map(({ shape }) => sizeOf(shape)));
  const piece = new Float32Array(sizes.reduce((most, size) => Math.min(PIECE_ELEMENTS, Math.max(most, size)), 0));
  for (const { name, shape, parts, encoding } of layout) {
    const specs = encoding.specs(name, shape);
    const encode = encoding.encoder(shape);
    for await (const rows of readRows(source, parts, piece)) {
      for (const { tensor, ...part } of encode(rows)) yield { spec: specs[tensor]!, ...part };
    }
  }
}

/** Reads the rows of the stacked parts in order. Their values may lie in `piece`: they are valid until the next rows are requested. */
async function* readRows(
  source: TensorSource,
  parts: WeightSpec['parts'],
  piece: Float32Array,
): AsyncGenerator<WeightRows> {
  let first = 0;
  for (const { name, shape } of parts) {
    const [rows, ...rest] = shape as [number, ...number[]];
    const step = Math.max(1, Math.floor(PIECE_ELEMENTS / sizeOf(rest)));
    for (let from = 0; from < rows; from += step) {
      const count = Math.min(step, rows - from);
      const fits = count * sizeOf(rest) <= piece.length;
      const values = await source.read(name, { first: from, count }, fits ? piece : undefined);
      yield { first: first + from, count, values };
    }
    first += rows;
  }
}

async function withSource(modelDirectory: string, use: (source: TensorSource) => Promise<void>): Promise<void> {
  const source = await openTensors(modelDirectory);
  try {
    await use(source);
  } finally {
    await source.close();
  }
}
