// Decodes and encodes numbers as the Tinker protocol packs them: little-endian, row by row, dense or as the non-zero cells of a matrix.
import { AppError } from '#domain/errors';
import { readFields, readIntegers, toInteger } from './wire.ts';

/** Values in row order; shape [] or [n] for a list, [n, k] for k values at each of n positions. */
export interface WireTensor {
  readonly values: Float32Array | Int32Array;
  readonly shape: readonly number[];
}

const FLOAT32 = 1;
const INT64 = 2;

/** Maximum cells of one tensor: a sparse one is short on the wire, and may claim to be large. */
const CELLS_MAX = 8_000_000;

/** Throws `invalid_request`. */
export function readTensor(bytes: Uint8Array, name: string): WireTensor {
  let [dense, sparse]: (Uint8Array | null)[] = [null, null];
  let type = 0;
  const shape: number[] = [];
  for (const field of readFields(bytes)) {
    if (field.number === 1) dense = field.bytes;
    if (field.number === 2) sparse = field.bytes;
    if (field.number === 3) type = toInteger(field.value);
    if (field.number === 4) shape.push(...readIntegers(field));
    if (shape.length > 2) throw refuse(name, 'it has more than two dimensions');
  }
  if (shape.some((size) => size < 0)) throw refuse(name, 'its shape is negative');
  const cells = shape.reduce((product, size) => product * size, 1);
  if (cells > CELLS_MAX) throw refuse(name, `it has ${cells} cells; at most ${CELLS_MAX} are read`);
  const values = sparse ? readSparse(sparse, type, shape, name) : readNumbers(dense ?? new Uint8Array(0), type, name);
  if (values.length !== cells) throw refuse(name, `its shape has ${cells} numbers, but it contains ${values.length}`);
  return { values, shape };
}

function readNumbers(bytes: Uint8Array, type: number, name: string): Float32Array | Int32Array {
  if (type === FLOAT32) return new Float32Array(aligned(bytes, 4, name));
  if (type === INT64) return toInt32(new BigInt64Array(aligned(bytes, 8, name)), name);
  throw refuse(name, `its type is ${type}; supported are float32 (1) and int64 (2)`);
}

/** CSR: the cells of row i are those from crow[i] to crow[i + 1]. */
function readSparse(bytes: Uint8Array, type: number, shape: readonly number[], name: string) {
  const parts = new Map([...readFields(bytes)].map(({ number, bytes: part }) => [number, part]));
  const part = (number: number) => parts.get(number) ?? new Uint8Array(0);
  const found = readNumbers(part(1), type, name);
  const rows = toInt32(new BigInt64Array(aligned(part(2), 8, name)), name);
  const columns = toInt32(new BigInt64Array(aligned(part(3), 8, name)), name);
  const [rowCount = 0, columnCount = 0] = shape;
  if (shape.length !== 2 || rows.length !== rowCount + 1 || columns.length !== found.length)
    throw refuse(name, 'its sparse rows and columns do not fit its shape');
  const values = type === FLOAT32 ? new Float32Array(rowCount * columnCount) : new Int32Array(rowCount * columnCount);
  for (let row = 0; row < rowCount; row++) {
    for (let i = rows[row]!; i < rows[row + 1]!; i++) {
      const column = columns[i];
      if (column === undefined || column < 0 || column >= columnCount)
        throw refuse(name, 'a sparse column is outside its shape');
      values[row * columnCount + column] = found[i]!;
    }
  }
  return values;
}

/** Token ids. Throws `invalid_request`. */
export const readTokens = (bytes: Uint8Array): Int32Array => new Int32Array(aligned(bytes, 4, 'tokens'));

/** Copies, because typed arrays need alignment that the bytes of a message do not have. */
function aligned(bytes: Uint8Array, size: number, name: string): ArrayBuffer {
  if (bytes.length % size !== 0) throw refuse(name, `${bytes.length} bytes are not a whole number of values`);
  return new Uint8Array(bytes).buffer;
}

function toInt32(values: BigInt64Array, name: string): Int32Array {
  return Int32Array.from(values, (value) => {
    if (value < -2_147_483_648n || value > 2_147_483_647n) throw refuse(name, `${value} is not a token id`);
    return Number(value);
  });
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Int32Array | BigInt64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const refuse = (name: string, why: string): AppError =>
  new AppError('invalid_request', `The tensor ${name.slice(0, 100)} cannot be used: ${why}.`);
