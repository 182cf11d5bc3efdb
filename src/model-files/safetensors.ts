// Tensors by name from .safetensors files, always as float32; opening reads headers only. Also writes them; the bytes
// depend only on the arguments, so that equal adapters are equal files.
import { open, stat, type FileHandle } from 'node:fs/promises';
import { endianness } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { FileTooLongError, readBoundedText } from '#base/bounded-file';
import { invariant } from '#base/invariant';
import { pathExists } from '#base/path-exists';
import { unfinishedPath, writeWholeFile } from '#base/whole-file';
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import { readBytes, readInto } from './read-bytes.ts';
import { bfloat16ToFloat32, float16ToFloat32, float32ToBfloat16, float32ToFloat16 } from './half-precision.ts';
import {
  badFile,
  badTensor,
  MAX_HEADER_BYTES,
  parseSafetensorsHeader,
  type TensorEntry,
} from './safetensors-header.ts';

export interface RowRange {
  readonly first: number;
  readonly count: number;
}

export interface TensorSource {
  names(): readonly string[];
  has(name: string): boolean;
  shape(name: string): readonly number[];
  /** The stored type: `F32`, `F16`, `BF16`, `I64`, … Only floats can be read. */
  dtype(name: string): string;
  /** Reads the whole tensor, or some rows of its first axis. `into` is at least as long as the result; a source may return its beginning. */
  read(name: string, rows?: RowRange, into?: Float32Array): Promise<Float32Array>;
  close(): Promise<void>;
}

export type StoredDtype = 'F32' | 'F16' | 'BF16';

export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** The values, or a function that returns them when they are written: a model need not be in memory as a whole. */
  readonly data: Float32Array | (() => Promise<Float32Array>);
  readonly dtype: StoredDtype;
}

interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly entries: ReadonlyMap<string, TensorEntry>;
}

invariant(endianness() === 'LE', 'safetensors files are little endian and are read without swapping bytes');

/** `path` is a .safetensors file, or a directory with model.safetensors or model.safetensors.index.json and its shards. */
export async function openSafetensors(path: string): Promise<TensorSource> {
  const { files, shardOf } = await listFiles(path);
  const opened: OpenFile[] = [];
  try {
    for (const file of files) opened.push(await openFile(file));
    return tensorSource(locateTensors(opened, shardOf, path), opened);
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

interface Files {
  readonly files: readonly string[];
  /** Sharded models say which file each tensor is in. */
  readonly shardOf: ReadonlyMap<string, string> | null;
}

async function listFiles(path: string): Promise<Files> {
  const info = await stat(path).catch((cause: unknown) => {
    throw new AppError('bad_model_files', `No safetensors file or model directory at ${path}.`, { cause });
  });
  if (!info.isDirectory()) return { files: [path], shardOf: null };
  const whole = join(path, 'model.safetensors');
  if (await pathExists(whole)) return { files: [whole], shardOf: null };
  const index = join(path, 'model.safetensors.index.json');
  if (await pathExists(index)) return readIndex(index);
  throw new AppError('bad_model_files', `${path} has neither model.safetensors nor model.safetensors.index.json.`);
}

/** Seven times that of 91,000 tensors. */
const INDEX_BYTES_MAX = 64 * 2 ** 20;

async function readIndex(indexPath: string): Promise<Files> {
  let index: unknown;
  try {
    index = JSON.parse(await readBoundedText(indexPath, INDEX_BYTES_MAX));
  } catch (cause) {
    if (cause instanceof FileTooLongError) throw badFile(indexPath, cause.message, cause);
    throw badFile(indexPath, 'it is not valid JSON', cause);
  }
  const weightMap = isObject(index) ? index.weight_map : undefined;
  if (!isObject(weightMap)) throw badFile(indexPath, 'it has no weight_map');
  const shardOf = new Map<string, string>();
  for (const [tensor, file] of Object.entries(weightMap)) {
    // A shard must be in the directory of its index: a downloaded index must not make us read other files.
    if (typeof file !== 'string' || file !== basename(file) || !file.endsWith('.safetensors')) {
      throw badTensor(indexPath, tensor, `its shard ${JSON.stringify(file)} is not the name of a .safetensors file`);
    }
    shardOf.set(tensor, join(dirname(indexPath), file));
  }
  return { files: [...new Set(shardOf.values())].sort(), shardOf };
}

async function openFile(path: string): Promise<OpenFile> {
  const handle = await open(path, 'r').catch((cause: unknown) => {
    throw badFile(path, 'it cannot be opened', cause);
  });
  try {
    const { size } = await handle.stat();
    if (size < 8) throw badFile(path, `it has ${size} bytes, too few for a header`);
    const length = Number(new DataView((await readOf(handle, path, 0, 8)).buffer).getBigUint64(0, true));
    if (length > MAX_HEADER_BYTES || 8 + length > size) {
      throw badFile(
        path,
        `its header claims ${length} bytes in a file of ${size} bytes (at most ${MAX_HEADER_BYTES} are allowed)`,
      );
    }
    const json = await readOf(handle, path, 8, length);
    return { path, handle, entries: parseSafetensorsHeader(json, { path, dataStart: 8 + length, byteLength: size }) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

type Located = ReadonlyMap<string, { readonly file: OpenFile; readonly entry: TensorEntry }>;

function locateTensors(opened: readonly OpenFile[], shardOf: Files['shardOf'], path: string): Located {
  if (shardOf === null)
    return new Map(opened.flatMap((file) => [...file.entries].map(([name, entry]) => [name, { file, entry }])));
  const byPath = new Map(opened.map((file) => [file.path, file]));
  return new Map(
    [...shardOf].map(([name, shard]) => {
      const file = byPath.get(shard);
      const entry = file?.entries.get(name);
      if (!file || !entry)
        throw badTensor(path, name, `the index places it in ${basename(shard)}, which does not have it`);
      return [name, { file, entry }];
    }),
  );
}

function tensorSource(tensors: Located, opened: readonly OpenFile[]): TensorSource {
  const names = [...tensors.keys()].sort();
  const find = (name: string) => {
    const found = tensors.get(name);
    if (!found)
      throw new AppError('bad_model_files', `No tensor ${name} in ${opened.map((file) => file.path).join(', ')}.`);
    return found;
  };
  return {
    names: () => names,
    has: (name) => tensors.has(name),
    shape: (name) => find(name).entry.shape,
    dtype: (name) => find(name).entry.dtype,
    read: async (name, rows, into) => {
      const { file, entry } = find(name);
      if (!FLOATS.includes(entry.dtype))
        throw badTensor(
          file.path,
          name,
          `weights of dtype ${entry.dtype} are not supported (F32, F16, BF16 and F64 are)`,
        );
      return readFloats(file, rows ? rowsOf(entry, rows) : entry, into);
    },
    close: () => closeAll(opened),
  };
}

/** Rows are adjacent, so a range of rows is a tensor. */
function rowsOf(entry: TensorEntry, { first, count }: RowRange): TensorEntry {
  const [rows, ...rest] = entry.shape as [number, ...number[]];
  const rowBytes = entry.byteLength / rows;
  return { ...entry, shape: [count, ...rest], start: entry.start + first * rowBytes, byteLength: count * rowBytes };
}

const WIDEN: Readonly<Record<string, (halves: Uint16Array, values: Float32Array) => void>> = {
  F16: float16ToFloat32,
  BF16: bfloat16ToFloat32,
};
const FLOATS: readonly string[] = ['F32', 'F64', ...Object.keys(WIDEN)];
/** Doubles do not fit into the memory of their values: only this many, 16 MB, are in memory in addition. */
const DOUBLES_AT_ONCE = 2 ** 21;

async function readFloats(
  { handle, path }: OpenFile,
  { dtype, start, byteLength, shape }: TensorEntry,
  into?: Float32Array,
): Promise<Float32Array> {
  const size = shape.reduce((product, size) => product * size, 1);
  const values = into?.subarray(0, size) ?? new Float32Array(size);
  invariant(values.length === size, `${size} values do not fit into ${values.length}`);
  if (dtype === 'F64') {
    for (let at = 0; at < size; at += DOUBLES_AT_ONCE) {
      const count = Math.min(DOUBLES_AT_ONCE, size - at);
      values.set(new Float64Array((await readOf(handle, path, start + 8 * at, 8 * count)).buffer), at);
    }
    return values;
  }
  // Halves are read into the end of the memory of their values and widened from its beginning: each is read before it is overwritten.
  const from = values.byteOffset + values.byteLength - byteLength;
  await readInto(new Uint8Array(values.buffer, from, byteLength), handle, start, (why) => badFile(path, why));
  WIDEN[dtype]?.(new Uint16Array(values.buffer, from, byteLength / 2), values);
  return values;
}

const readOf = (handle: FileHandle, path: string, start: number, length: number) =>
  readBytes(handle, start, length, (why) => badFile(path, why));

async function closeAll(files: readonly OpenFile[]): Promise<void> {
  await Promise.all(files.map((file) => file.handle.close()));
}

/**
 * Written to a temporary file, fsynced, then renamed: `path` never holds an incomplete file. float32 is rounded to `dtype`
 * (nearest, ties to even). Wider dtypes come first, then by name, as in the reference writer: every tensor is aligned.
 */
export async function writeSafetensors(
  path: string,
  tensors: readonly NamedTensor[],
  metadata: Readonly<Record<string, string>> = { format: 'pt' }, // Transformers refuses files without it
): Promise<void> {
  const ordered = [...tensors].sort((a, b) => bytesPerElement(b) - bytesPerElement(a) || compare(a.name, b.name));
  const header = encodeHeader(ordered, metadata);
  await writeWholeFile(path, unfinishedPath(path), async (handle) => {
    await writeBytes(handle, header);
    for (const tensor of ordered) await writeTensor(handle, tensor);
  });
}

function encodeHeader(ordered: readonly NamedTensor[], metadata: Readonly<Record<string, string>>): Uint8Array {
  const names = new Set(ordered.map((tensor) => tensor.name));
  invariant(names.size === ordered.length, 'two tensors of one file have the same name');
  invariant(!names.has('__metadata__'), '__metadata__ cannot name a tensor');
  const entries: [string, unknown][] = [
    ['__metadata__', Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => compare(a, b)))],
  ];
  let offset = 0;
  for (const tensor of ordered) {
    const end = offset + elementsOf(tensor) * bytesPerElement(tensor);
    entries.push([tensor.name, { dtype: tensor.dtype, shape: tensor.shape, data_offsets: [offset, end] }]);
    offset = end;
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const padded = Math.ceil(json.length / 8) * 8;
  const header = new Uint8Array(8 + padded).fill(0x20);
  new DataView(header.buffer).setBigUint64(0, BigInt(padded), true);
  header.set(json, 8);
  return header;
}

const elementsOf = ({ shape }: NamedTensor): number => shape.reduce((product, size) => product * size, 1);

const CHUNK_ELEMENTS = 2 ** 22; // rounding to 16 bits makes a copy: 8 MB of it at a time

async function writeTensor(handle: FileHandle, tensor: NamedTensor): Promise<void> {
  const { dtype } = tensor;
  const data = typeof tensor.data === 'function' ? await tensor.data() : tensor.data;
  invariant(
    data.length === elementsOf(tensor),
    `${tensor.name}: shape [${tensor.shape.join(', ')}] but ${data.length} numbers`,
  );
  for (let start = 0; start < data.length; start += CHUNK_ELEMENTS) {
    const chunk = data.subarray(start, start + CHUNK_ELEMENTS);
    const encoded = dtype === 'F32' ? chunk : dtype === 'F16' ? float32ToFloat16(chunk) : float32ToBfloat16(chunk);
    await writeBytes(handle, new Uint8Array(encoded.buffer, encoded.byteOffset, encoded.byteLength));
  }
}

async function writeBytes(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += (await handle.write(bytes, done)).bytesWritten;
}

const bytesPerElement = ({ dtype }: NamedTensor): number => (dtype === 'F32' ? 4 : 2);
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
