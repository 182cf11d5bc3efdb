// The symbols by which the token tree branches: bytes, and classes of characters that terms seldom distinguish. A branch represents
// all tokens of the same classes, so that a vocabulary of 150,000 is a tree of 17,000 nodes instead of 330,000.

/** Below 256: that byte. `wide`: a whole character of several bytes. */
export const SYMBOLS = { lower: 256, upper: 257, digit: 258, wide: 259 } as const;
/** Any character that JSON strings contain unescaped; not a branch. */
export const SAFE = 260;

export type Run = readonly [from: number, to: number];

/** The bytes of a class of one-byte characters; null for other symbols. */
export const runOf = (symbol: number): Run | null => RUNS[symbol - SYMBOLS.lower] ?? null;
const RUNS: readonly Run[] = [
  [0x61, 0x7a],
  [0x41, 0x5a],
  [0x30, 0x39],
];
const SAFE_RUNS: readonly Run[] = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x7e],
];

const REST: Run = [0x80, 0xbf];
/** UTF-8 sequences of more than one byte (RFC 3629, section 4). */
const SEQUENCES: readonly (readonly Run[])[] = [
  [[0xc2, 0xdf], REST],
  [[0xe0, 0xe0], [0xa0, 0xbf], REST],
  [[0xe1, 0xec], REST, REST],
  [[0xed, 0xed], [0x80, 0x9f], REST],
  [[0xee, 0xef], REST, REST],
  [[0xf0, 0xf0], [0x90, 0xbf], REST, REST],
  [[0xf1, 0xf3], REST, REST, REST],
  [[0xf4, 0xf4], [0x80, 0x8f], REST, REST],
];

const isIn = (byte: number, [from, to]: Run): boolean => byte >= from && byte <= to;

/** The number of bytes of the character that starts here; 1 if it is incomplete or invalid. */
export function characterLength(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at]! < 0x80) return 1;
  const sequence = SEQUENCES.find(([lead]) => isIn(bytes[at]!, lead!));
  const isWhole = sequence?.every((run, i) => at + i < end && isIn(bytes[at + i]!, run));
  return isWhole ? sequence!.length : 1;
}

/** For characters of one byte. */
const SYMBOL_OF = Uint16Array.from({ length: 256 }, (_, byte) => {
  const run = RUNS.findIndex((each) => isIn(byte, each));
  return run < 0 ? byte : SYMBOLS.lower + run;
});

export function symbolsOf(bytes: Uint8Array, start: number, end: number): number[] {
  const symbols: number[] = [];
  for (let at = start; at < end;) {
    const length = characterLength(bytes, at, end);
    symbols.push(length > 1 ? SYMBOLS.wide : SYMBOL_OF[bytes[at]!]!);
    at += length;
  }
  return symbols;
}

export const isClass = (symbol: number): boolean => symbol > 0xff;

export const isSafe = (symbol: number): boolean => isClass(symbol) || SAFE_RUNS.some((run) => isIn(symbol, run));

/** The bytes of the class: one run for each byte of its characters. */
export function sequencesOf(symbol: number): readonly (readonly Run[])[] {
  if (symbol === SAFE) return SAFE_SEQUENCES;
  return symbol === SYMBOLS.wide ? SEQUENCES : [[runOf(symbol)!]];
}
const SAFE_SEQUENCES = [...SAFE_RUNS.map((run) => [run]), ...SEQUENCES];
