// Finds which tokens of an encoded text stand for a span of its characters, as `char_to_token` of Transformers does. The tokenizer library
// reports no offsets, so the bytes of the tokens are aligned with the bytes of the text. They are the same but for what normalizers
// change: a space before the text, spaces beside an added token, characters in another Unicode form, characters without a token.
import type { Tokenizer } from './tokenizer.ts';

/** Tokens `first` to `end`, without `end`. */
export interface TokenSpan {
  readonly first: number;
  readonly end: number;
}

/** Offsets of the characters are those of JavaScript (UTF-16). */
export type FindTokens = (from: number, to: number) => TokenSpan;

/** `ids` are those of the whole text. Every span of one text takes one search, so that a text of many turns is aligned once. */
export function createTokenSpans(text: string, ids: readonly number[], tokenizer: Bytes): FindTokens {
  const bytes = Buffer.from(text);
  const starts = alignTokens(bytes, ids, tokenizer);
  let known = { character: 0, byte: 0 };
  /** Spans come in the order of the text, so that each part of it is measured once. */
  function byteOf(character: number): number {
    if (character < known.character) known = { character: 0, byte: 0 };
    const byte = known.byte + Buffer.byteLength(text.slice(known.character, character));
    known = { character, byte };
    return byte;
  }
  return (from, to) => {
    const [start, end] = [byteOf(from), byteOf(to)];
    let first = firstThat(ids.length, (i) => starts[i + 1]! > start);
    // A token without bytes of its own (the space that SentencePiece puts before a text) belongs to what follows it.
    while (first > 0 && starts[first - 1] === start) first--;
    // A special token may take the spaces beside it: what begins among those begins after it.
    const id = ids[first];
    if (id !== undefined && tokenizer.isSpecial(id) && starts[first]! + tokenizer.tokenBytes(id).length <= start)
      first++;
    return { first, end: firstThat(ids.length, (i) => starts[i]! >= end) };
  };
}

/** Binary search; `count` if there is none. */
function firstThat(count: number, holds: (i: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Tokens for characters that the vocabulary lacks. */
const UNKNOWN = new Set(['<unk>', '[UNK]', '<|unk|>', 'UNK']);
/** A byte that no UTF-8 text has: stands for one character, whatever it is. */
const ANY = 0xff;

type Bytes = Pick<Tokenizer, 'tokenBytes' | 'isSpecial'>;

/** `[ids.length + 1]`: where each token begins in the text, in bytes; the last element is the text's length. Never decreases. */
function alignTokens(text: Buffer, ids: readonly number[], { tokenBytes, isSpecial }: Bytes): Int32Array {
  const starts = new Int32Array(ids.length + 1);
  const spelled = ids.map((id) => {
    const bytes = tokenBytes(id);
    return bytes.length < 10 && UNKNOWN.has(Buffer.from(bytes).toString()) ? Uint8Array.of(ANY) : bytes;
  });
  let [place, at] = [0, 0];
  while (place < ids.length) {
    // Special tokens are found before anything is normalized: their text is there, and what lies between two of them is aligned alone.
    let anchor = place;
    while (anchor < ids.length && !(isSpecial(ids[anchor]!) && spelled[anchor]![0] !== ANY)) anchor++;
    const spelling = anchor < ids.length ? spelled[anchor]! : null;
    const found = spelling === null || spelling.length === 0 ? -1 : text.indexOf(spelling, at);
    const until = spelling === null ? text.length : found < 0 ? at : found;
    alignPart(text.subarray(at, until), spelled.slice(place, anchor), (i, offset) => (starts[place + i] = at + offset));
    if (spelling === null) break;
    starts[anchor] = until;
    at = found < 0 ? until : until + spelling.length;
    place = anchor + 1;
  }
  starts[ids.length] = text.length;
  return starts;
}

/** How far apart the two may be where they differ, and how many equal bytes end the difference. */
const [APART_MAX, EQUAL_MIN] = [48, 6];
const SPACE = 0x20;

/** Calls `put` with each token's offset in `text`. */
function alignPart(text: Buffer, tokens: readonly Uint8Array[], put: (token: number, offset: number) => void): void {
  const spelled = Buffer.concat(tokens);
  const offsets = new Int32Array(spelled.length + 1); // of each byte of the tokens in the text
  let [s, t] = [0, 0];
  while (s < spelled.length) {
    if (t < text.length && (spelled[s] === text[t] || spelled[s] === ANY)) {
      offsets[s] = t;
      t = spelled[s] === ANY ? endOfCharacter(text, t) : t + 1;
      s++;
      continue;
    }
    const { skipped, passed } = findAgain(spelled, s, text, t);
    // A space that was put there belongs to what follows it. Other bytes stand for the text's bytes here, as evenly as possible.
    const isSpace = spelled.subarray(s, s + skipped).every((byte) => byte === SPACE);
    for (let i = 0; i < skipped; i++) offsets[s + i] = t + (isSpace ? passed : Math.floor((i * passed) / skipped));
    [s, t] = [s + skipped, t + passed];
  }
  offsets[spelled.length] = text.length;
  let byte = 0;
  for (const [i, token] of tokens.entries()) {
    put(i, offsets[byte]!);
    byte += token.length;
  }
}

/** The shortest difference after which both go on alike: bytes of the tokens that are skipped, bytes of the text that are passed. */
function findAgain(spelled: Buffer, s: number, text: Buffer, t: number): { skipped: number; passed: number } {
  for (let apart = 1; apart <= APART_MAX; apart++)
    for (let skipped = 0; skipped <= apart; skipped++)
      if (goOnAlike(spelled, s + skipped, text, t + apart - skipped)) return { skipped, passed: apart - skipped };
  // A long difference: byte by byte. Its other end, a special token or the end of the text, is known.
  return { skipped: 1, passed: t < text.length ? 1 : 0 };
}

function goOnAlike(spelled: Buffer, s: number, text: Buffer, t: number): boolean {
  if (s > spelled.length || t > text.length) return false;
  for (let equal = 0; equal < EQUAL_MIN; equal++) {
    if (s === spelled.length || t === text.length) return s === spelled.length && t === text.length;
    if (spelled[s] === ANY && equal > 0) return true; // it may stand for several characters
    if (spelled[s] === ANY) t = endOfCharacter(text, t);
    else if (spelled[s] === text[t]) t++;
    else return false;
    s++;
  }
  return true;
}

const endOfCharacter = (text: Buffer, at: number): number => {
  let end = at + 1;
  while (end < text.length && (text[end]! & 0xc0) === 0x80) end++;
  return end;
};
