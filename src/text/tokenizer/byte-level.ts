// GPT-2's writing of bytes as characters that print: what `ByteLevel` does to a text before the model, and what its tokens are as bytes.
import { BYTE_CHARACTERS } from '#base/byte-characters';
import { beginOf, endOf, type AlignedText } from './aligned-text.ts';

const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = new Map(
  BYTE_CHARACTERS.map((character, byte) => [character, byte]),
);
const utf8 = new TextEncoder();

/** Each character becomes as many as it has bytes. */
export function toByteLevel(from: AlignedText): AlignedText {
  const { text } = from;
  const ascii = asciiToByteLevel(text);
  if (ascii !== null) return ascii === text ? from : { ...from, text: ascii };
  const bytes = Buffer.from(text);
  const [begins, ends] = [new Int32Array(bytes.length), new Int32Array(bytes.length)];
  let written = '';
  let [at, begin, end] = [0, 0, 0];
  for (const [i, byte] of bytes.entries()) {
    written += BYTE_CHARACTERS[byte]!;
    if ((byte & 0xc0) !== 0x80) {
      [begin, end] = [beginOf(from, at), endOf(from, at)]; // the first byte of a character
      at += byte < 0xf0 ? 1 : 2;
    }
    begins[i] = begin;
    ends[i] = end;
  }
  return { text: written, origin: from.origin, begins, ends };
}

/** Null: it has other characters. */
function asciiToByteLevel(text: string): string | null {
  let written = '';
  let kept = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) return null;
    if (unit > 0x20 && unit < 0x7f) continue;
    written += text.slice(kept, at) + BYTE_CHARACTERS[unit]!;
    kept = at + 1;
  }
  return kept === 0 ? text : written + text.slice(kept);
}

/** A token with other characters than the table's is its own text. */
export function fromByteLevel(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = BYTE_OF_CHARACTER.get(token[i]!);
    if (byte === undefined) return utf8.encode(token);
    bytes[i] = byte;
  }
  return bytes;
}
