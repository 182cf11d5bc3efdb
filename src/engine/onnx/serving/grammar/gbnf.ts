// Pieces of grammars in GBNF, as strings: literals, classes of characters, ranges of integers.

export const literal = (text: string): string => `"${Array.from(text, (c) => escaped(c.codePointAt(0)!)).join('')}"`;

/**
 * Closed ranges of code points → an expression for one of them; null: there is none. The library reads classes with
 * members beyond ASCII wrongly (web-xgrammar 0.1.27 lets any byte pass), so these are all or nothing, or written out: what
 * cannot be said is left out, which is stricter and never wrong.
 */
export function oneOf(ranges: readonly Range[]): string | null {
  const within = (from: number, to: number) =>
    mergeRanges(ranges).flatMap(([a, b]): Range[] =>
      b < from || a > to ? [] : [[Math.max(a, from), Math.min(b, to)]],
    );
  const ascii = within(0, ASCII_LAST);
  const beyond = within(ASCII_LAST + 1, LAST_CODE);
  if (complement([[0, ASCII_LAST], ...NOT_IN_TEXT, ...beyond]).length === 0) return characterClass(without(ascii), '^');
  const size = beyond.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const written = size > WRITTEN_OUT_MAX ? [] : beyond.flatMap(([from, to]) => codes(from, to).map((code) => literal(String.fromCodePoint(code)))); // prettier-ignore
  const options = [...(ascii.length > 0 ? [characterClass(ascii, '')] : []), ...written];
  if (options.length === 0) return null;
  return options.length === 1 ? options[0]! : alternatives(options);
}

const ASCII_LAST = 0x7f;
const WRITTEN_OUT_MAX = 256;

const without = (ascii: readonly Range[]): Range[] => complement([...ascii, [ASCII_LAST + 1, LAST_CODE]]);

const codes = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

const characterClass = (ranges: readonly Range[], sign: '' | '^'): string =>
  `[${sign}${ranges.map(([from, to]) => (from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`)).join('')}]`;

export type Range = readonly [from: number, to: number];

const PLAIN = /[A-Za-z0-9 _:;,<>/=!@%&]/;

/** Everything that could mean something is written by its number. */
function escaped(code: number): string {
  const character = String.fromCodePoint(code);
  if (PLAIN.test(character)) return character;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

export const LAST_CODE = 0x10ffff;

export function mergeRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last && from <= last[1] + 1) merged[merged.length - 1] = [last[0], Math.max(last[1], to)];
    else merged.push([from, to]);
  }
  return merged;
}

export function complement(ranges: readonly Range[]): Range[] {
  const gaps: Range[] = [];
  let from = 0;
  for (const [start, end] of mergeRanges(ranges)) {
    if (start > from) gaps.push([from, start - 1]);
    from = end + 1;
  }
  return from <= LAST_CODE ? [...gaps, [from, LAST_CODE]] : gaps;
}

/** Halves of surrogate pairs are no characters. */
export const NOT_IN_TEXT: readonly Range[] = [[0xd800, 0xdfff]];
/** Control characters, quote and backslash stand in JSON strings in escaped form only. */
export const NOT_IN_JSON: readonly Range[] = [...NOT_IN_TEXT, [0, 0x1f], [0x22, 0x22], [0x5c, 0x5c]];

export const alternatives = (expressions: readonly string[]): string => `(${expressions.join(' | ')})`;

/** JSON stays exact, and readers' numbers too. */
export const INTEGER_MAX = 10 ** 15 - 1;

/** Integers from `low` to `high`, both included; null: there are none. */
export function integerRange(low: number, high: number): string | null {
  const parts: string[] = [];
  if (low < 0) parts.push(...naturals(Math.max(1, -high), -low).map((part) => `"-" ${part}`));
  if (high >= 0) parts.push(...naturals(Math.max(0, low), high));
  return low > high || parts.length === 0 ? null : alternatives(parts);
}

/** By number of digits: 7…1234 is 7…9, 10…99, 100…999, 1000…1234. */
function naturals(low: number, high: number): string[] {
  if (low > high) return [];
  const parts: string[] = [];
  for (let from = low; from <= high;) {
    const last = Math.min(high, 10 ** String(from).length - 1);
    parts.push(sameLength(String(from), String(last)));
    from = last + 1;
  }
  return parts;
}

/** Digit strings between two of equal length. */
function sameLength(low: string, high: string): string {
  if (low === high) return literal(low);
  if (low.length === 1) return `[${low}-${high}]`;
  const [first, last] = [low[0]!, high[0]!];
  if (first === last) return `"${first}" ${sameLength(low.slice(1), high.slice(1))}`;
  const [rest, nines, zeros] = [low.length - 1, '9'.repeat(low.length - 1), '0'.repeat(low.length - 1)];
  const parts = [`"${first}" ${sameLength(low.slice(1), nines)}`];
  if (Number(last) - Number(first) > 1) parts.push(`[${Number(first) + 1}-${Number(last) - 1}] [0-9]{${rest}}`);
  parts.push(`"${last}" ${sameLength(zeros, high.slice(1))}`);
  return alternatives(parts);
}
