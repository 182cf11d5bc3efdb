// Converts classes of characters into terms over their UTF-8 bytes (RFC 3629), either unescaped or as in a JSON string: there,
// control characters, quotes and backslashes are escaped, and every other character is written as itself.
import { complement, mergeRanges, NOT_IN_JSON, NOT_IN_TEXT, type Range } from '../gbnf.ts';
import type { Term, Terms } from './terms.ts';

/** `json`: between the quotes of a JSON string. `plain`: unescaped. */
export type TextForm = 'json' | 'plain';

export const ANY: readonly Range[] = [[0, 0x10ffff]];

/** The letters that JSON writes after a backslash. */
const ESCAPES: readonly (readonly [code: number, letter: string])[] = [
  [0x22, '"'],
  [0x5c, '\\'],
  [0x2f, '/'],
  [0x08, 'b'],
  [0x0c, 'f'],
  [0x0a, 'n'],
  [0x0d, 'r'],
  [0x09, 't'],
];

export function characterTerm(terms: Terms, ranges: readonly Range[], form: TextForm): Term {
  terms.spend(2 + 2 * ranges.length);
  const left = form === 'json' ? NOT_IN_JSON : NOT_IN_TEXT;
  const plain = complement([...complement(mergeRanges(ranges)), ...left]);
  const parts = plain.flatMap(([from, to]) => utf8(terms, from, to));
  if (form === 'json') {
    const has = (code: number) => ranges.some(([from, to]) => from <= code && code <= to);
    const letters = ESCAPES.filter(([code]) => has(code)).map(([, letter]) => `\\${letter}`);
    for (let code = 0; code < 0x20; code++)
      if (has(code) && !ESCAPES.some(([escaped]) => escaped === code))
        letters.push(`\\u${code.toString(16).padStart(4, '0')}`);
    if (letters.length > 0) parts.push(terms.words(letters));
  }
  return terms.or(parts);
}

/** Any text in the given form. */
export const anyText = (terms: Terms, form: TextForm): Term =>
  terms.repeat(characterTerm(terms, ANY, form), 0, Infinity);

const SLASHES_LISTED = 3;

/** Each slash nests the terms behind it: more than are paid for would be too deep for the stack. */
const SLASH_WORK = 80;

/** A text with many slashes, in every spelling. */
function slashedTerm(terms: Terms, parts: readonly string[]): Term {
  terms.spend(SLASH_WORK * parts.length);
  const slash = terms.words(['/', '\\/']);
  return terms.concat(parts.flatMap((part, i) => (i === 0 ? [terms.word(part)] : [slash, terms.word(part)])));
}

const spellings = ([first, ...rest]: readonly string[]): string[] =>
  rest.length === 0 ? [first!] : spellings(rest).flatMap((behind) => [`${first!}/${behind}`, `${first!}\\/${behind}`]);

/** The texts, each in every spelling. */
export function textsTerm(terms: Terms, texts: readonly string[], form: TextForm): Term {
  terms.spend(texts.length);
  if (form === 'plain') return terms.words(texts);
  const split = texts.map((text) => JSON.stringify(text).slice(1, -1).split('/'));
  const listed = split.filter((parts) => parts.length <= SLASHES_LISTED + 1).flatMap(spellings);
  const others = split.filter((parts) => parts.length > SLASHES_LISTED + 1);
  return terms.or([terms.words(listed), ...others.map((parts) => slashedTerm(terms, parts))]);
}

const LENGTH_ENDS = [0x7f, 0x7ff, 0xffff, 0x10ffff];

/** The characters from one code to another, as sequences of byte ranges. */
function utf8(terms: Terms, from: number, to: number): Term[] {
  for (const end of LENGTH_ENDS)
    if (from <= end && end < to) return [...utf8(terms, from, end), ...utf8(terms, end + 1, to)];
  if (to <= 0x7f) return [terms.bytes(from, to)];
  // The last bytes may take all values only if the first bytes are equal, so the range is split where they differ.
  for (let bits = 6; bits <= 18; bits += 6) {
    const mask = (1 << bits) - 1;
    if (from >> bits === to >> bits) break;
    if ((from & mask) !== 0) return [...utf8(terms, from, from | mask), ...utf8(terms, (from | mask) + 1, to)];
    if ((to & mask) !== mask) return [...utf8(terms, from, (to & ~mask) - 1), ...utf8(terms, to & ~mask, to)];
  }
  const [first, last] = [Buffer.from(String.fromCodePoint(from)), Buffer.from(String.fromCodePoint(to))];
  return [terms.concat(Array.from(first, (byte, i) => terms.bytes(byte, last[i]!)))];
}
