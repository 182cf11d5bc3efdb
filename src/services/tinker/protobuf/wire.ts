// Protocol Buffers' wire format (protobuf.dev/programming-guides/encoding), as far as the Tinker protocol uses it: reads and writes the
// fields of a message. The messages in this folder define what fields mean. Only values that are asked for are copied.
import { AppError } from '#domain/errors';

export interface WireField {
  readonly number: number;
  /** 0: `value`; 1, 2 and 5: `bytes`. */
  readonly type: 0 | 1 | 2 | 5;
  readonly value: bigint;
  readonly bytes: Uint8Array;
}

const NOTHING = new Uint8Array(0);

/** Throws `invalid_request` if the bytes are not a message. */
export function* readFields(bytes: Uint8Array): Generator<WireField> {
  let at = 0;
  function varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw malformed();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw malformed();
  }
  function take(length: bigint): Uint8Array {
    if (length > BigInt(bytes.length - at)) throw malformed();
    const taken = bytes.subarray(at, at + Number(length));
    at += Number(length);
    return taken;
  }
  while (at < bytes.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    const type = Number(tag & 7n);
    if (number === 0) throw malformed();
    if (type === 0) yield { number, type, value: varint(), bytes: NOTHING };
    else if (type === 1) yield { number, type, value: 0n, bytes: take(8n) };
    else if (type === 2) yield { number, type, value: 0n, bytes: take(varint()) };
    else if (type === 5) yield { number, type, value: 0n, bytes: take(4n) };
    else throw malformed();
  }
}

/** A `repeated int64`, packed or not. */
export function readIntegers(field: WireField): number[] {
  if (field.type === 0) return [toInteger(field.value)];
  const values: number[] = [];
  let [value, shift] = [0n, 0n];
  for (const byte of field.bytes) {
    if (shift >= 70n) throw malformed();
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte >= 0x80) continue;
    values.push(toInteger(value));
    [value, shift] = [0n, 0n];
  }
  return values;
}

/** Of int32 and int64: two's complement. */
export const toInteger = (value: bigint): number => Number(BigInt.asIntN(64, value));

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
