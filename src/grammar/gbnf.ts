// Builds parts of GBNF grammars as strings: literals, character classes, runs of digits.

export const literal = (text: string): string => `"${Array.from(text, (c) => escaped(c.codePointAt(0)!)).join('')}"`;

export type Range = readonly [from: number, to: number];

const PLAIN = /[A-Za-z0-9 _:;,<>/=!@%&]/;

/** Characters that could have a meaning in GBNF are written by their code. */
function escaped(code: number): string {
  const character = String.fromCodePoint(code);
  if (PLAIN.test(character)) return character;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

const LAST_CODE = 0x10ffff;

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

/** Surrogates are not characters. */
export const NOT_IN_TEXT: readonly Range[] = [[0xd800, 0xdfff]];
/** JSON strings contain control characters, quotes and backslashes only in escaped form. */
export const NOT_IN_JSON: readonly Range[] = [...NOT_IN_TEXT, [0, 0x1f], [0x22, 0x22], [0x5c, 0x5c]];

export const alternatives = (expressions: readonly string[]): string => `(${expressions.join(' | ')})`;

/** Integers from `first` to `last`, which have the same number of digits. */
export function digitsBetween(first: bigint, last: bigint): string {
  return sameLength(first.toString(), last.toString());
}

function sameLength(low: string, high: string): string {
  if (low === high) return literal(low);
  if (low.length === 1) return `[${low}-${high}]`;
  const [first, last] = [Number(low[0]), Number(high[0])];
  const [restLow, restHigh] = [low.slice(1), high.slice(1)];
  if (first === last) return `"${first}" ${sameLength(restLow, restHigh)}`;
  const zeros = '0'.repeat(restLow.length);
  const nines = '9'.repeat(restLow.length);
  // The first digits after which any digits may follow. A bound's own first digit counts if all its other digits are 0 (or 9).
  const from = restLow === zeros ? first : first + 1;
  const to = restHigh === nines ? last : last - 1;
  const parts = from > first ? [`"${first}" ${sameLength(restLow, nines)}`] : [];
  if (from <= to) parts.push(`[${from}-${to}] [0-9]{${restLow.length}}`);
  if (to < last) parts.push(`"${last}" ${sameLength(zeros, restHigh)}`);
  return parts.length === 1 ? parts[0]! : alternatives(parts);
}
