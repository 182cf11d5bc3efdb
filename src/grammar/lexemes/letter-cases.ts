// What a character class matches when the case of letters does not count, according to the JavaScript engine (`/…/iu`).
import { mergeRanges, type Range } from '../gbnf.ts';

/** No letter with several cases has a larger code. */
const LAST_CASED = 0x1ffff;

let cased: readonly string[] | null = null;

/** The characters that have another case: some 3,000. */
function casedCharacters(): readonly string[] {
  if (cased !== null) return cased;
  const found: string[] = [];
  for (let code = 0; code <= LAST_CASED; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    if (character.toLowerCase() !== character || character.toUpperCase() !== character) found.push(character);
  }
  return (cased = found);
}

/** The ranges, and the other cases of their letters. */
export function inAnyCase(ranges: readonly Range[]): readonly Range[] {
  if (ranges.length === 0) return ranges;
  const hex = (code: number) => `\\u{${code.toString(16)}}`;
  const expression = new RegExp(`[${ranges.map(([from, to]) => `${hex(from)}-${hex(to)}`).join('')}]`, 'iu');
  const others = casedCharacters().filter((character) => expression.test(character));
  return mergeRanges([...ranges, ...others.map((each): Range => [each.codePointAt(0)!, each.codePointAt(0)!])]);
}
