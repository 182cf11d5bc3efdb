// GPT-2's table, in which arbitrary bytes are text that survives: bytes that print in Latin-1 stand for themselves, the others
// for U+0100 and up, in order.

const prints = (byte: number) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte !== 0xad);

let next = 0x100;

/** By byte. */
export const BYTE_CHARACTERS: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(prints(byte) ? byte : next++),
);
