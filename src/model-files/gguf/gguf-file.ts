// An open GGUF file: its header, and its tensors as float32, one at a time. Knows nothing about models.
import { open } from 'node:fs/promises';
import { AppError } from '#domain/errors';
import type { RowRange } from '../safetensors.ts';
import { readBytes } from '../read-bytes.ts';
import { ggmlType } from './ggml-types.ts';
import { badGguf, HeaderGoesOn, parseGgufHeader, type GgufHeader } from './gguf-header.ts';

export interface GgufFile extends GgufHeader {
  /** Row-major, by the file's own name; whole, or some rows, each of which is whole blocks: runs of the last dimension, or numbers of a vector. */
  read(name: string, rows?: RowRange): Promise<Float32Array>;
  close(): Promise<void>;
}

/** The source of a GGUF file: a local file, or a remote one of which only parts are needed. */
export interface GgufBytes {
  /** The name in error messages. */
  readonly name: string;
  readonly size: number;
  /** Returns exactly this many bytes, or throws. */
  read(start: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

const FIRST_BYTES = 2 ** 24; // a vocabulary of 150,000 tokens and its merges take 6 MB

/** Reads the header only. Throws `bad_model_files`. */
export const openGgufFile = async (path: string): Promise<GgufFile> => readGgufFile(await openBytes(path));

/** Takes ownership of the bytes and closes them. */
export async function readGgufFile(bytes: GgufBytes): Promise<GgufFile> {
  try {
    const header = await readHeader(bytes);
    return {
      ...header,
      async read(name, rows) {
        const tensor = header.tensors.get(name);
        const type = tensor && ggmlType(tensor.type);
        if (!type) throw new AppError('bad_model_files', `No tensor ${name} in ${bytes.name}.`);
        const columns = tensor.shape.length > 1 ? tensor.shape.at(-1)! : 1;
        const all = tensor.shape.reduce((product, length) => product * length, 1) / columns;
        const { first, count } = rows ?? { first: 0, count: all };
        const rowBytes = tensor.byteLength / all;
        const values = new Float32Array(count * columns);
        type.decode(await bytes.read(tensor.start + first * rowBytes, count * rowBytes), values);
        return values;
      },
      close: () => bytes.close(),
    };
  } catch (error) {
    await bytes.close();
    throw error;
  }
}

async function openBytes(path: string): Promise<GgufBytes> {
  const handle = await open(path, 'r').catch((cause: unknown) => {
    throw badGguf(path, 'it cannot be opened', cause);
  });
  const { size } = await handle.stat();
  return {
    name: path,
    size,
    read: (start, length) => readBytes(handle, start, length, (why) => badGguf(path, why)),
    close: () => handle.close(),
  };
}

/** The length of the header is not stored: more is read until it is complete. */
async function readHeader(bytes: GgufBytes): Promise<GgufHeader> {
  const { name, size } = bytes;
  for (let length = Math.min(FIRST_BYTES, size); ; length = Math.min(2 * length, size)) {
    try {
      return parseGgufHeader(await bytes.read(0, length), name, size);
    } catch (error) {
      if (!(error instanceof HeaderGoesOn)) throw error;
      if (length === size)
        throw badGguf(name, `it is truncated: its header is longer than its ${size} bytes. Download it again`);
    }
  }
}
