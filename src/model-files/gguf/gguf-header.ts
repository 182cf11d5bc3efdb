// The header of a GGUF file (ggml's docs/gguf.md, versions 2 and 3): metadata by key, and the position of each tensor. Decides whether a file is
// well formed; architectures.ts and gguf-tokenizer.ts interpret the keys. Arrays of numbers and strings become JavaScript arrays.
import { createBudget } from '#base/budget';
import { AppError } from '#domain/errors';
import { shown } from '../shown.ts';
import { ggmlType, ggmlTypeName, READABLE_TYPES } from './ggml-types.ts';

export type GgufValue = number | boolean | string | readonly (number | boolean | string)[];

export interface GgufTensor {
  readonly name: string;
  /** Slowest dimension first, as everywhere in this code; files have the reverse order. */
  readonly shape: readonly number[];
  /** ggml's number of the type. */
  readonly type: number;
  /** From the start of the file. */
  readonly start: number;
  readonly byteLength: number;
}

export interface GgufHeader {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
}

export const MAGIC = 'GGUF';
export const VERSION = 3;
export const DEFAULT_ALIGNMENT = 32;
export const VALUE_TYPES = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const;

/** `bytes` ended inside the header: more of the file is needed. */
export class HeaderGoesOn extends Error {}

/** The file is complete, but of an unsupported kind. */
export class UnreadType extends AppError {}

/** Ten times the largest vocabularies and their merges. A file that lies about its lengths is not read into memory as a whole. */
const HEADER_BYTES_MAX = 2 ** 28;
/** Keys, items of lists and tensors: ten times a vocabulary of 260,000 tokens with its kinds, scores and merges is less. */
const ENTRIES_MAX = 10_000_000;
const DIMENSIONS_MAX = 4;
/** Powers of two, as the format has them; llama.cpp writes 32. */
const ALIGNMENTS: readonly number[] = Array.from({ length: 14 }, (_, i) => 8 << i);

/** `bytes` are the first bytes of a file of `byteLength`. Throws `HeaderGoesOn`, and `bad_model_files`. */
export function parseGgufHeader(bytes: Uint8Array, path: string, byteLength: number): GgufHeader {
  const read = valueReader(bytes, path, byteLength);
  checkVersion(bytes, path);
  read.skip(8);
  const [tensorCount, valueCount] = [read.u64(), read.u64()];
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < valueCount; i++) {
    read.entries.spend(1);
    metadata.set(read.string(), read.value(read.u32()));
  }
  refuseParts(metadata, path);
  const found = Array.from({ length: Math.min(tensorCount, bytes.length) }, () => {
    read.entries.spend(1);
    const name = read.string();
    const dimensions = read.u32();
    if (dimensions > DIMENSIONS_MAX) throw badGguf(path, `tensor ${name} has ${dimensions} dimensions`);
    const shape = Array.from({ length: dimensions }, () => read.u64()).reverse();
    if (shape.includes(0)) throw badGguf(path, `tensor ${name} is empty: its shape is [${shape.join(', ')}]`);
    return { name, shape, type: read.u32(), offset: read.u64() };
  });
  const alignment = alignmentOf(metadata, path);
  const dataStart = align(read.position(), alignment);
  const tensors = found.map(({ offset, ...tensor }): [string, GgufTensor] => {
    const start = dataStart + offset;
    const size = sizeOf(tensor, path);
    if (start + size > byteLength)
      throw badGguf(
        path,
        `it is truncated: tensor ${tensor.name} ends at byte ${start + size}, the file has ${byteLength}. Download it again`,
      );
    return [tensor.name, { ...tensor, start, byteLength: size }];
  });
  return { metadata, tensors: new Map(tensors) };
}

export const badGguf = (path: string, fault: string, cause?: unknown): AppError =>
  new AppError('bad_model_files', `Cannot read ${path}: ${fault}.`, cause === undefined ? {} : { cause });

export const align = (position: number, alignment: number): number => Math.ceil(position / alignment) * alignment;

function alignmentOf(metadata: ReadonlyMap<string, GgufValue>, path: string): number {
  const value = metadata.get('general.alignment') ?? DEFAULT_ALIGNMENT;
  if (typeof value === 'number' && ALIGNMENTS.includes(value)) return value;
  throw badGguf(path, `general.alignment must be one of ${ALIGNMENTS.join(', ')}, got ${shown(value)}`);
}

function checkVersion(bytes: Uint8Array, path: string): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const magic = Buffer.from(bytes.subarray(0, 4)).toString('latin1');
  if (magic !== MAGIC) throw badGguf(path, `it is not a GGUF file: it does not begin with ${MAGIC}`);
  if (bytes.length < 24) throw badGguf(path, `it has ${bytes.length} bytes, too few for a header`);
  const version = view.getUint32(4, true);
  if (version === VERSION || version === 2) return;
  if (view.getUint32(4, false) <= VERSION)
    throw badGguf(path, 'it is big-endian. Convert it to little-endian with gguf_convert_endian.py of llama.cpp');
  throw badGguf(path, `GGUF version ${version} is not supported; versions 2 and ${VERSION} are`);
}

function refuseParts(metadata: ReadonlyMap<string, GgufValue>, path: string): void {
  const count = metadata.get('split.count');
  if (typeof count !== 'number' || count <= 1) return;
  const part = Number(metadata.get('split.no') ?? 0) + 1;
  throw badGguf(
    path,
    `it is part ${part} of ${count} of a model. Join the parts with llama.cpp: llama-gguf-split --merge FIRST_PART whole.gguf`,
  );
}

function sizeOf({ name, shape, type }: Pick<GgufTensor, 'name' | 'shape' | 'type'>, path: string): number {
  const known = ggmlType(type);
  if (!known)
    throw new UnreadType(
      'bad_model_files',
      `Cannot read ${path}: tensor ${name} has the type ${ggmlTypeName(type)}, which is not supported; supported are ${READABLE_TYPES.join(', ')}.`,
    );
  const columns = shape.at(-1) ?? 1;
  if (columns % known.blockValues !== 0)
    throw badGguf(
      path,
      `tensor ${name} has rows of ${columns} values, which is not a multiple of the block size of ${known.name}`,
    );
  return (shape.reduce((product, size) => product * size, 1) / known.blockValues) * known.blockBytes;
}

function valueReader(bytes: Uint8Array, path: string, byteLength: number) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const text = new TextDecoder();
  const entries = createBudget(ENTRIES_MAX, (most) => badGguf(path, `its header has more than ${most} entries`));
  let at = 0;
  function take(size: number): number {
    const end = at + size;
    if (end > Math.min(byteLength, HEADER_BYTES_MAX)) throw tooLong(size);
    if (end > bytes.length) throw new HeaderGoesOn();
    at = end;
    return end - size;
  }
  /** More of the file would not help. */
  function tooLong(length: number): AppError {
    const part = `byte ${at} of its header begins something of ${length} bytes`;
    const most =
      byteLength <= HEADER_BYTES_MAX ? `the file has ${byteLength}` : `a header has at most ${HEADER_BYTES_MAX}`;
    return badGguf(path, `it is truncated or damaged: ${part}, and ${most}. Download it again`);
  }
  const u32 = () => view.getUint32(take(4), true);
  const u64 = () => Number(view.getBigUint64(take(8), true)); // a number that does not fit exceeds any file
  const string = () => {
    const length = u64();
    const start = take(length);
    return text.decode(bytes.subarray(start, start + length));
  };
  const scalars: Readonly<Record<number, () => number | boolean | string>> = {
    0: () => view.getUint8(take(1)),
    1: () => view.getInt8(take(1)),
    2: () => view.getUint16(take(2), true),
    3: () => view.getInt16(take(2), true),
    [VALUE_TYPES.u32]: u32,
    [VALUE_TYPES.i32]: () => view.getInt32(take(4), true),
    [VALUE_TYPES.f32]: () => view.getFloat32(take(4), true),
    [VALUE_TYPES.bool]: () => view.getUint8(take(1)) !== 0,
    [VALUE_TYPES.string]: string,
    10: u64,
    11: () => Number(view.getBigInt64(take(8), true)),
    12: () => view.getFloat64(take(8), true),
  };
  const scalar = (type: number) => {
    const read = scalars[type];
    if (!read) throw badGguf(path, `its metadata has a value of the unknown type ${type}`);
    return read();
  };
  const value = (type: number): GgufValue => {
    if (type !== VALUE_TYPES.array) return scalar(type);
    const itemType = u32();
    const count = u64();
    at = take(count); // each item has at least one byte
    entries.spend(count);
    return Array.from({ length: count }, () => scalar(itemType));
  };
  return { entries, u32, u64, string, value, skip: take, position: () => at };
}
