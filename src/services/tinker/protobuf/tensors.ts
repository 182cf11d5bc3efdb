// Decodes and encodes numbers as the Tinker protocol packs them: little-endian, row by row, dense or as the non-zero cells of a matrix.
import { AppError } from '#domain/errors';
import type { ReadingBudget } from './reading-budget.ts';
import { readFields, readIntegers } from './wire.ts';

/** Values in row order; shape [n] for a list, [n, k] for k values at each of n positions. */
export interface WireTensor {
  readonly values: Float32Array | Int32Array;
  readonly shape: readonly number[];
}

const FLOAT32 = 1;
const INT64 = 2;

/** Throws `invalid_request`. */
export function readTensor(bytes: Uint8Array, name: string, budget: ReadingBudget): WireTensor {
  let [dense, sparse]: (Uint8Array | null)[] = [null, null];
  let type = 0;
  const shape: number[] = [];
  for (const field of readFields(bytes, budget.fields)) {
    if (field.number === 1) dense = field.bytes;
    if (field.number === 2) sparse = field.bytes;
    if (field.number === 3) type = field.value;
    if (field.number === 4) shape.push(...readIntegers(field, 3));
    if (shape.length > 2) throw refuse(name, 'it has more than two dimensions');
  }
  if (shape.some((size) => size < 0)) throw refuse(name, 'its shape is negative');
  const cells = shape.reduce((product, size) => product * size, 1);
  budget.cells.spend(cells);
  const values = sparse
    ? readSparse(sparse, type, shape, name, budget)
    : readNumbers(dense ?? new Uint8Array(0), type, name);
  // The SDK leaves out a shape that its user did not give, and means a list.
  if (shape.length === 0) return { values, shape: [values.length] };
  if (values.length !== cells) throw refuse(name, `its shape has ${cells} numbers, but it contains ${values.length}`);
  return { values, shape };
}

function readNumbers(bytes: Uint8Array, type: number, name: string): Float32Array | Int32Array {
  if (type === FLOAT32) return new Float32Array(aligned(bytes, 4, name));
  if (type === INT64) return readInt32(bytes, name);
  throw refuse(name, `its type is ${type}; supported are float32 (1) and int64 (2)`);
}

/** CSR: the cells of row i are those from crow[i] to crow[i + 1]. */
function readSparse(bytes: Uint8Array, type: number, shape: readonly number[], name: string, budget: ReadingBudget) {
  const parts = new Map<number, Uint8Array>();
  for (const { number, bytes: part } of readFields(bytes, budget.fields)) parts.set(number, part);
  const part = (number: number) => parts.get(number) ?? new Uint8Array(0);
  const found = readNumbers(part(1), type, name);
  const rows = readInt32(part(2), name);
  const columns = readInt32(part(3), name);
  const [rowCount = 0, columnCount = 0] = shape;
  if (shape.length !== 2 || rows.length !== rowCount + 1 || columns.length !== found.length)
    throw refuse(name, 'its sparse rows and columns do not fit its shape');
  // Without this, each row could name all cells again.
  if (rows[0] !== 0 || rows[rowCount] !== found.length || rows.some((row, i) => i > 0 && row < rows[i - 1]!))
    throw refuse(name, 'its sparse rows do not follow each other');
  const values = type === FLOAT32 ? new Float32Array(rowCount * columnCount) : new Int32Array(rowCount * columnCount);
  for (let row = 0; row < rowCount; row++) {
    for (let i = rows[row]!; i < rows[row + 1]!; i++) {
      const column = columns[i]!;
      if (column < 0 || column >= columnCount) throw refuse(name, 'a sparse column is outside its shape');
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

/** Of int64, by halves: bigints take ten times as long. */
function readInt32(bytes: Uint8Array, name: string): Int32Array {
  const halves = new Int32Array(aligned(bytes, 8, name));
  const values = new Int32Array(halves.length / 2);
  for (let i = 0; i < values.length; i++) {
    const low = halves[2 * i]!;
    if (halves[2 * i + 1] !== low >> 31) throw refuse(name, `value ${i} is not a token id`);
    values[i] = low;
  }
  return values;
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Int32Array | BigInt64Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const refuse = (name: string, why: string): AppError =>
  new AppError('invalid_request', `The tensor ${name.slice(0, 100)} cannot be used: ${why}.`);
