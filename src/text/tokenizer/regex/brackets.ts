// Character classes in brackets, escapes and properties of Oniguruma's Ruby syntax → tests of characters.
import { cases, oneOf, propertyNamed, range, SHORTHANDS } from './character-set.ts';
import { RegexError } from './syntax.ts';

type Test = (point: number) => boolean;

/** Reads an expression from left to right. */
export interface Cursor {
  readonly source: string;
  at: number;
}

export const eat = (cursor: Cursor, text: string): boolean => {
  if (!cursor.source.startsWith(text, cursor.at)) return false;
  cursor.at += text.length;
  return true;
};

export function nextPoint(cursor: Cursor): number {
  const point = cursor.source.codePointAt(cursor.at);
  if (point === undefined) throw new RegexError('ends too early');
  cursor.at += point > 0xffff ? 2 : 1;
  return point;
}

function match(cursor: Cursor, expression: RegExp): RegExpExecArray | null {
  expression.lastIndex = cursor.at;
  const found = expression.exec(cursor.source);
  if (found) cursor.at += found[0].length;
  return found;
}

export const withCases =
  (test: Test): Test =>
  (point) =>
    test(point) || cases(point).some(test);

const not =
  (test: Test): Test =>
  (point) =>
    !test(point);

/** After a backslash: `\s`, `\P{Lu}` and the like; null if it is none. */
export function readShorthand(cursor: Cursor): Test | null {
  const property = match(cursor, /([pP])\{(\^?)([^{}]+)\}/y);
  if (property) {
    const [whole, letter, caret, name] = property;
    const test = propertyNamed(name!);
    if (!test) throw new RegexError(`has \\${whole}, which names no known property`);
    return (letter === 'P') !== (caret === '^') ? not(test) : test;
  }
  const letter = match(cursor, /[swdhSWDH]/y)?.[0];
  if (letter === undefined) return null;
  const test = SHORTHANDS[letter.toLowerCase()]!;
  return letter === letter.toLowerCase() ? test : not(test);
}

const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, a: 7, e: 27 };

/** After a backslash: the character that the escape stands for. */
export function readEscape(cursor: Cursor): number {
  const hex = match(cursor, /x\{([0-9a-fA-F]{1,8})\}|u([0-9a-fA-F]{4})|x([0-7][0-9a-fA-F])/y);
  if (hex) return parseInt(hex[1] ?? hex[2] ?? hex[3]!, 16);
  const octal = match(cursor, /0[0-7]{0,2}/y);
  if (octal) return parseInt(octal[0], 8);
  const letter = String.fromCodePoint(nextPoint(cursor));
  if (Object.hasOwn(CONTROLS, letter)) return CONTROLS[letter]!;
  if (/[a-zA-Z1-9]/.test(letter)) throw new RegexError(`has \\${letter}, which is not supported`);
  return letter.codePointAt(0)!;
}

/** After the opening bracket. */
export function readBrackets(cursor: Cursor, ignoreCase: boolean): Test {
  const negative = eat(cursor, '^');
  const sides = [readUnion(cursor, ignoreCase)];
  while (eat(cursor, '&&')) sides.push(readUnion(cursor, ignoreCase));
  if (!eat(cursor, ']')) throw new RegexError('has a bracket that is never closed');
  const all: Test = sides.length === 1 ? sides[0]! : (point) => sides.every((side) => side(point));
  return negative ? not(all) : all;
}

function readUnion(cursor: Cursor, ignoreCase: boolean): Test {
  const tests: Test[] = [];
  const begin = cursor.at;
  while (cursor.at < cursor.source.length) {
    if (cursor.source.startsWith('&&', cursor.at)) break;
    if (cursor.source[cursor.at] === ']' && cursor.at > begin) break;
    if (cursor.source[cursor.at] === ']' && !cursor.source.includes(']', cursor.at + 1)) break;
    tests.push(readElement(cursor, ignoreCase));
  }
  const test = oneOf(tests);
  return ignoreCase ? withCases(test) : test;
}

function readElement(cursor: Cursor, ignoreCase: boolean): Test {
  const posix = match(cursor, /\[:(\^?)([a-zA-Z]+):\]/y);
  if (posix) {
    const test = posix[2] === 'punct' ? punctuationOrSymbol : propertyNamed(posix[2]!);
    if (!test) throw new RegexError(`has ${posix[0]}, which is not known`);
    return posix[1] === '^' ? not(test) : test;
  }
  if (eat(cursor, '[')) return readBrackets(cursor, ignoreCase);
  const escaped = eat(cursor, '\\');
  const shorthand = escaped ? readShorthand(cursor) : null;
  if (shorthand) return shorthand;
  const first = readCharacter(cursor, escaped);
  const isRange =
    cursor.source[cursor.at] === '-' && !/^-(?:\]|&&|\[|\\[swdhSWDHpP])/.test(cursor.source.slice(cursor.at));
  if (!isRange) return range(first, first);
  cursor.at++;
  const last = readCharacter(cursor, eat(cursor, '\\'));
  if (last < first) throw new RegexError('has a range that ends before it begins');
  return range(first, last);
}

/** In brackets, [:punct:] has symbols too. */
const punctuationOrSymbol: Test = (point) => /[\p{P}\p{S}]/u.test(String.fromCodePoint(point));

const readCharacter = (cursor: Cursor, escaped: boolean): number => {
  if (!escaped) return nextPoint(cursor);
  return eat(cursor, 'b') ? 8 : readEscape(cursor);
};
