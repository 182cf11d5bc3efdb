// Which tokens keep a text well-formed UTF-8 (RFC 3629 §4): the library lets any continuation bytes follow, and a broken
// character would be counted and read as something else than the grammar meant.
import type { VocabularyBytes } from './thread-messages.ts';

export interface Utf8Guard {
  /** Clears the bits of tokens that would break a character; `mask` has one bit per token. */
  apply(mask: Int32Array, pending: Pending): void;
  /** What is left open of the last character when the token was added. */
  advance(pending: Pending, tokenId: number): Pending;
}

/** The bytes that must follow to end a character: ranges for the next one, then how many more. Empty: none is open. */
export type Pending = readonly ByteRange[];
type ByteRange = readonly [low: number, high: number];

const CONTINUATION: ByteRange = [0x80, 0xbf];

export function createUtf8Guard({ bytes, offsets }: VocabularyBytes): Utf8Guard {
  const token = (id: number) => bytes.subarray(offsets[id], offsets[id + 1]);
  const count = offsets.length - 1;
  const brokenFromStart: number[] = [];
  const continuing: number[] = [];
  for (let id = 0; id < count; id++) {
    if (token(id).length === 0) continue;
    if (read([], token(id)) === null) brokenFromStart.push(id);
    if (token(id)[0]! >= 0x80 && token(id)[0]! <= 0xbf) continuing.push(id);
  }
  const mayContinue = new Set(continuing);
  const clear = (mask: Int32Array, id: number) => (mask[id >> 5]! &= ~(1 << (id & 31)));
  return {
    apply(mask, pending) {
      if (pending.length === 0) {
        for (const id of brokenFromStart) clear(mask, id);
        return;
      }
      for (let id = 0; id < count; id++) {
        if (((mask[id >> 5]! >>> (id & 31)) & 1) === 0) continue;
        if (!mayContinue.has(id) || read(pending, token(id)) === null) clear(mask, id);
      }
    },
    advance: (pending, id) => (id < count ? (read(pending, token(id)) ?? []) : pending),
  };
}

/** Null: not UTF-8. */
function read(pending: Pending, added: Uint8Array): Pending | null {
  let open = pending;
  for (const byte of added) {
    if (open.length === 0) {
      const next = begin(byte);
      if (next === null) return null;
      open = next;
    } else {
      const [low, high] = open[0]!;
      if (byte < low || byte > high) return null;
      open = open.slice(1);
    }
  }
  return open;
}

function begin(byte: number): Pending | null {
  if (byte < 0x80) return [];
  if (byte >= 0xc2 && byte <= 0xdf) return [CONTINUATION];
  if (byte === 0xe0) return [[0xa0, 0xbf], CONTINUATION];
  if (byte === 0xed) return [[0x80, 0x9f], CONTINUATION];
  if (byte >= 0xe1 && byte <= 0xef) return [CONTINUATION, CONTINUATION];
  if (byte === 0xf0) return [[0x90, 0xbf], CONTINUATION, CONTINUATION];
  if (byte >= 0xf1 && byte <= 0xf3) return [CONTINUATION, CONTINUATION, CONTINUATION];
  return byte === 0xf4 ? [[0x80, 0x8f], CONTINUATION, CONTINUATION] : null;
}
