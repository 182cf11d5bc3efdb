// Sets of characters, tested by code point. A set remembers its answers for the first plane in a table, because a test is the innermost step
// of tokenization. Knows the names that Oniguruma gives to properties of characters.

export interface CharacterSet {
  has(this: void, point: number): boolean;
}

type Test = (point: number) => boolean;

const PLANE = 0x10000;

export function characterSet(test: Test): CharacterSet {
  const known = new Uint8Array(PLANE); // 0: not known, 1: no, 2: yes
  return {
    has(point) {
      if (point >= PLANE) return test(point);
      const answer = known[point]!;
      if (answer !== 0) return answer === 2;
      const found = test(point);
      known[point] = found ? 2 : 1;
      return found;
    },
  };
}

/** The set of one character needs no table. */
export const onlyCharacter = (wanted: number): CharacterSet => ({ has: (point) => point === wanted });

export const oneOf = (tests: readonly Test[]): Test =>
  tests.length === 1 ? tests[0]! : (point) => tests.some((test) => test(point));

export const range =
  (first: number, last: number): Test =>
  (point) =>
    point >= first && point <= last;

const matching =
  (expression: RegExp): Test =>
  (point) =>
    expression.test(String.fromCodePoint(point));

/** What `\s`, `\w`, `\d` and `\h` are in Oniguruma with Unicode. JavaScript's differ. */
export const SHORTHANDS: Readonly<Record<string, Test>> = {
  s: matching(/[\t-\r \u0085\p{Z}]/u),
  w: matching(/[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}²³¹¼½¾]/u), // the six are in Oniguruma's table of Latin-1
  d: matching(/\p{Nd}/u),
  h: matching(/[0-9a-fA-F]/u),
};

/** POSIX names, which are properties too. */
const POSIX: Readonly<Record<string, Test>> = {
  alnum: matching(/[\p{Alphabetic}\p{Nd}]/u),
  alpha: matching(/[\p{Alphabetic}]/u),
  ascii: range(0, 0x7f),
  blank: matching(/[\t\p{Zs}]/u),
  cntrl: matching(/\p{Cc}/u),
  digit: SHORTHANDS.d!,
  graph: matching(/[^\t-\r \u0085\p{Z}\p{Cc}\p{Cn}\p{Cs}]/u),
  lower: matching(/\p{Lowercase}/u),
  print: matching(/[^\p{Cc}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/u),
  punct: matching(/\p{P}/u),
  space: SHORTHANDS.s!,
  upper: matching(/\p{Uppercase}/u),
  xdigit: SHORTHANDS.h!,
  word: SHORTHANDS.w!,
  any: () => true,
};

/** By a POSIX name, a general category, a script or a property; null: there is none with that name. */
export function propertyNamed(name: string): Test | null {
  const plain = name.replace(/[\s_-]/g, '').toLowerCase();
  if (Object.hasOwn(POSIX, plain)) return POSIX[plain]!;
  const titled = name
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[\p{L}\p{N}]+/gu, titleCase);
  const spellings = [...new Set([name, titled])];
  const candidates = ['General_Category=', 'Script=', ''].flatMap((kind) => spellings.map((each) => kind + each));
  for (const candidate of candidates) {
    try {
      return matching(new RegExp(`\\p{${candidate}}`, 'u'));
    } catch {
      continue; // a property of another kind
    }
  }
  return null;
}

const titleCase = (word: string): string => word[0]!.toUpperCase() + word.slice(1).toLowerCase();

/** What a character may be in another case: for ignoring case. */
export function cases(point: number): number[] {
  const character = String.fromCodePoint(point);
  const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
  return [...new Set([character, lower, upper, upper.toLowerCase(), lower.toUpperCase()])]
    .filter((each) => each.length === 1 || (each.length === 2 && each.codePointAt(0)! >= PLANE))
    .map((each) => each.codePointAt(0)!);
}
