// GPT-2's writing of bytes as characters that print: what `ByteLevel` does to a text before the model, and what its tokens are as bytes.
import { BYTE_CHARACTERS } from '#base/byte-characters';
import { beginOf, endOf, rewriteText, type AlignedText } from './aligned-text.ts';

const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = new Map(
  BYTE_CHARACTERS.map((character, byte) => [character, byte]),
);
const utf8 = new TextEncoder();

/** Each character becomes as many as it has bytes. */
export function toByteLevel(from: AlignedText): AlignedText {
  const { text } = from;
  const ascii = asciiToByteLevel(text);
  if (ascii !== null) return { ...from, text: ascii };
  const writer = rewriteText(from);
  for (let at = 0; at < text.length; ) {
    const point = text.codePointAt(at)!;
    let written = '';
    for (const byte of utf8.encode(String.fromCodePoint(point))) written += BYTE_CHARACTERS[byte]!;
    writer.write(written, beginOf(from, at), endOf(from, at));
    at += point > 0xffff ? 2 : 1;
  }
  return writer.done();
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
