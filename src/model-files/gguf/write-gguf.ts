// Writes GGUF files, version 3: metadata and tensors in the order given, each tensor aligned. Equal arguments produce equal bytes.
import type { FileHandle } from 'node:fs/promises';
import { invariant } from '#base/invariant';
import { unfinishedPath, writeWholeFile } from '#base/whole-file';
import { ggmlType, ggmlTypeNumber } from './ggml-types.ts';
import { align, DEFAULT_ALIGNMENT, MAGIC, VALUE_TYPES, VERSION } from './gguf-header.ts';
import { ENCODERS, type WrittenType } from './quantize.ts';

type Scalar = number | boolean | string;
type ScalarType = Exclude<keyof typeof VALUE_TYPES, 'array'>;

/** A value with the type that llama.cpp expects for its key; arrays have elements of that type. */
export interface TypedValue {
  readonly type: ScalarType;
  readonly value: Scalar | readonly Scalar[];
}

export interface TensorToWrite {
  readonly name: string;
  /** Slowest dimension first; the last is a multiple of 32 if the type is Q8_0. */
  readonly shape: readonly number[];
  readonly type: WrittenType;
  /** Read when it is written, so that a model need not be in memory as a whole. */
  readonly data: () => Promise<Float32Array>;
}

/** Written to a temporary file, fsynced, then renamed: `path` never holds an incomplete file. */
export async function writeGguf(
  path: string,
  metadata: Readonly<Record<string, TypedValue>>,
  tensors: readonly TensorToWrite[],
): Promise<void> {
  await writeWholeFile(path, unfinishedPath(path), async (handle) => {
    await writeAligned(handle, encodeHeader(metadata, tensors));
    for (const tensor of tensors) await writeTensor(handle, tensor);
  });
}

function encodeHeader(metadata: Readonly<Record<string, TypedValue>>, tensors: readonly TensorToWrite[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const number = (size: number, write: (view: DataView) => void) => {
    const bytes = new Uint8Array(size);
    write(new DataView(bytes.buffer));
    parts.push(bytes);
  };
  const u32 = (value: number) => number(4, (view) => view.setUint32(0, value, true));
  const u64 = (value: number) => number(8, (view) => view.setBigUint64(0, BigInt(value), true));
  const string = (value: string) => {
    const bytes = new TextEncoder().encode(value);
    u64(bytes.length);
    parts.push(bytes);
  };
  const scalar = (type: ScalarType, value: Scalar) => {
    if (type === 'string') string(String(value));
    else if (type === 'bool') number(1, (view) => view.setUint8(0, Number(value)));
    else if (type === 'f32') number(4, (view) => view.setFloat32(0, Number(value), true));
    else if (type === 'i32') number(4, (view) => view.setInt32(0, Number(value), true));
    else u32(Number(value));
  };
  parts.push(Buffer.from(MAGIC, 'latin1'));
  u32(VERSION);
  u64(tensors.length);
  u64(Object.keys(metadata).length);
  for (const [key, { type, value }] of Object.entries(metadata)) {
    string(key);
    if (typeof value !== 'object') {
      u32(VALUE_TYPES[type]);
      scalar(type, value);
      continue;
    }
    u32(VALUE_TYPES.array);
    u32(VALUE_TYPES[type]);
    u64(value.length);
    for (const item of value) scalar(type, item);
  }
  let offset = 0;
  for (const tensor of tensors) {
    string(tensor.name);
    u32(tensor.shape.length);
    for (const size of tensor.shape.toReversed()) u64(size);
    u32(ggmlTypeNumber(tensor.type));
    u64(offset);
    offset = align(offset + byteLength(tensor), DEFAULT_ALIGNMENT);
  }
  return Buffer.concat(parts);
}

const elementsOf = ({ shape }: TensorToWrite): number => shape.reduce((product, size) => product * size, 1);

function byteLength(tensor: TensorToWrite): number {
  const { blockValues, blockBytes } = ggmlType(ggmlTypeNumber(tensor.type))!;
  invariant(
    tensor.shape.at(-1)! % blockValues === 0,
    `${tensor.name}: rows of ${tensor.shape.at(-1)} values are not whole blocks`,
  );
  return (elementsOf(tensor) / blockValues) * blockBytes;
}

const CHUNK_ELEMENTS = 2 ** 22; // encoding makes a copy: of 4 million values at a time

async function writeTensor(handle: FileHandle, tensor: TensorToWrite): Promise<void> {
  const values = await tensor.data();
  invariant(
    values.length === elementsOf(tensor),
    `${tensor.name}: [${tensor.shape.join(', ')}] has ${values.length} values`,
  );
  for (let start = 0; start < values.length; start += CHUNK_ELEMENTS)
    await writeBytes(handle, ENCODERS[tensor.type](values.subarray(start, start + CHUNK_ELEMENTS)));
  const size = byteLength(tensor);
  await writeBytes(handle, new Uint8Array(align(size, DEFAULT_ALIGNMENT) - size));
}

async function writeAligned(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  await writeBytes(handle, bytes);
  await writeBytes(handle, new Uint8Array(align(bytes.length, DEFAULT_ALIGNMENT) - bytes.length));
}

async function writeBytes(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) done += (await handle.write(bytes, done)).bytesWritten;
}
