// Encodes messages between machines as bytes: MessagePack, with arrays of numbers as extension types (docs/worker-protocol.md,
// section 1). Does not know the messages.
import { decode, encode, ExtensionCodec } from '@msgpack/msgpack';

const INT32 = 1;
const FLOAT32 = 2;

const extensions = new ExtensionCodec();
extensions.register({
  type: INT32,
  encode: (value) => (value instanceof Int32Array ? bytesOf(value) : null),
  decode: (bytes) => new Int32Array(aligned(bytes)),
});
extensions.register({
  type: FLOAT32,
  encode: (value) => (value instanceof Float32Array ? bytesOf(value) : null),
  decode: (bytes) => new Float32Array(aligned(bytes)),
});

const bytesOf = ({ buffer, byteOffset, byteLength }: Int32Array | Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** A copy: inside a message an array may begin at any byte, and a view would keep the whole message in memory. */
function aligned(bytes: Uint8Array): ArrayBuffer {
  if (bytes.byteLength % 4 !== 0) throw new RangeError(`${bytes.byteLength} bytes are not an array of 4-byte numbers`);
  return Uint8Array.from(bytes).buffer;
}

/** `undefined` becomes nil. Throws TypeError for values that cannot be encoded (functions, cycles). */
export const encodeMessage = (message: unknown): Uint8Array => encode(message, { extensionCodec: extensions });

/** Throws RangeError or Error if the bytes are not exactly one MessagePack value. */
export const decodeMessage = (bytes: Uint8Array): unknown => decode(bytes, { extensionCodec: extensions });
