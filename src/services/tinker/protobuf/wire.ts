// Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding), as far as the Tinker protocol uses it: reads and writes the
// fields of a message. The messages in this folder define what fields mean. Only values that are asked for are copied.
import type { Budget } from '#base/budget';
import { AppError } from '#domain/errors';

export interface WireField {
  readonly number: number;
  /** 0: `value`; 1, 2 and 5: `bytes`. */
  readonly type: 0 | 1 | 2 | 5;
  /** In two's complement, as int32 and int64 are sent; rounded beyond 2^53. */
  readonly value: number;
  readonly bytes: Uint8Array;
}

const NOTHING = new Uint8Array(0);

/** `budget`: counts fields, because a message of many tiny ones takes long to read. Throws `invalid_request` if the bytes are not a message. */
export function* readFields(bytes: Uint8Array, budget?: Budget): Generator<WireField> {
  const varints = createVarints(bytes);
  function take(length: number): Uint8Array {
    const end = varints.at + length;
    if (length < 0 || end > bytes.length) throw malformed();
    const taken = bytes.subarray(varints.at, end);
    varints.at = end;
    return taken;
  }
  while (varints.at < bytes.length) {
    budget?.spend(1);
    const tag = varints.next();
    const number = Math.floor(tag / 8);
    const type = tag % 8;
    if (number < 1) throw malformed();
    if (type === 0) yield { number, type, value: varints.next(), bytes: NOTHING };
    else if (type === 1) yield { number, type, value: 0, bytes: take(8) };
    else if (type === 2) yield { number, type, value: 0, bytes: take(varints.next()) };
    else if (type === 5) yield { number, type, value: 0, bytes: take(4) };
    else throw malformed();
  }
}

const [BITS_28, BITS_56, BITS_64] = [2 ** 28, 2 ** 56, 2 ** 64];

/** Without bigints, which take ten times as long. */
function createVarints(bytes: Uint8Array): { at: number; next(): number } {
  return {
    at: 0,
    next() {
      const parts = [0, 0, 0]; // 28 bits, 28 bits, 8 bits; the lowest first
      for (let group = 0; group < 10; group++) {
        const byte = bytes[this.at++];
        if (byte === undefined) throw malformed();
        parts[group >> 2]! |= (byte & 0x7f) << (7 * (group & 3));
        if (byte < 0x80) return signed(parts[0]!, parts[1]!, parts[2]! & 0xff);
      }
      throw malformed();
    },
  };
}

function signed(low: number, middle: number, high: number): number {
  if (high < 0x80) return low + middle * BITS_28 + high * BITS_56;
  const complement = BITS_28 - 1 - low + (BITS_28 - 1 - middle) * BITS_28 + (0xff - high) * BITS_56;
  return complement >= BITS_64 / 2 ? -BITS_64 / 2 : -1 - complement;
}

/** A `repeated int64`, packed or not. Stops after `countMax`. */
export function readIntegers({ type, value, bytes }: WireField, countMax: number): number[] {
  if (type === 0) return [value];
  const varints = createVarints(bytes);
  const values: number[] = [];
  while (varints.at < bytes.length && values.length < countMax) values.push(varints.next());
  return values;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

export function toText({ bytes }: WireField): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw malformed();
  }
}

export const toDouble = ({ bytes }: WireField): number => {
  if (bytes.length !== 8) throw malformed();
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getFloat64(0, true);
};

const malformed = (): AppError =>
  new AppError('invalid_request', 'The body is not the protobuf message of this route: it cannot be decoded.');

/** Builds one message; default values are omitted, as in proto3. */
export interface MessageWriter {
  integer(number: number, value: number): MessageWriter;
  text(number: number, value: string): MessageWriter;
  bytes(number: number, value: Uint8Array): MessageWriter;
  /** Written even if it is empty. */
  message(number: number, value: Uint8Array): MessageWriter;
  double(number: number, value: number): MessageWriter;
  integers(number: number, values: readonly number[]): MessageWriter;
  done(): Uint8Array;
}

export function createMessage(): MessageWriter {
  const pieces: Uint8Array[] = [];
  const tag = (number: number, type: number) => void pieces.push(varintOf(number * 8 + type));
  const sized = (number: number, value: Uint8Array) => {
    tag(number, 2);
    pieces.push(varintOf(value.length), value);
  };
  const writer: MessageWriter = {
    integer(number, value) {
      if (value === 0) return writer;
      tag(number, 0);
      pieces.push(varintOf(value));
      return writer;
    },
    text(number, value) {
      if (value !== '') sized(number, Buffer.from(value, 'utf8'));
      return writer;
    },
    bytes(number, value) {
      if (value.length > 0) sized(number, value);
      return writer;
    },
    message(number, value) {
      sized(number, value);
      return writer;
    },
    double(number, value) {
      tag(number, 1);
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(value);
      pieces.push(bytes);
      return writer;
    },
    integers(number, values) {
      if (values.length > 0) sized(number, Buffer.concat(values.map(varintOf)));
      return writer;
    },
    done: () => Buffer.concat(pieces),
  };
  return writer;
}

/** ≥ 0. */
function varintOf(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
