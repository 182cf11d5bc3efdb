// Parses request bodies: bytes → JSON as Python's clients write it. It preserves two things that JSON.parse would lose: integers beyond
// 2^53 (seeds, limits in JSON schemas), also with `.0`, as bigints (with an exponent they are doubles, as in Python); and the bare
// tokens NaN and Infinity as strings, which the lax schemas read.
import { randomUUID } from 'node:crypto';
import { ValidationError } from './parse.ts';

/** Templates, grammars and schemas traverse values recursively; real requests are nested far less deeply. */
export const DEPTH_MAX = 128;

/** While objects, lists and their contents are created, no other request is served; new keys cost the most. */
export interface Shape {
  readonly valuesMax: number;
  /** Number of distinct keys. */
  readonly keysMax: number;
}

const ANY_SHAPE: Shape = { valuesMax: Infinity, keysMax: Infinity };

type Mode = 'exact integers' | 'inexact integers';

/** Both of the steps below at once. Returns undefined if the text is empty. */
export function parseJson(text: string): unknown {
  if (text.trim() === '') return undefined;
  const scan = scanShape(text, ANY_SHAPE);
  while (!scan.next().done);
  return readJson(text, 'exact integers');
}

/** `inexact integers`: those beyond 2^53 are rounded, as JSON.parse does, so that logprobs with many digits need no second pass. */
export function readJson(text: string, mode: Mode): unknown {
  const mark = `${randomUUID()}:`; // unguessable, so that no client can send a string with this prefix
  const marks = mode === 'exact integers' && /\d{16}/.test(text);
  const marked = quoteTokens(text, mark, marks);
  try {
    const value = JSON.parse(marked) as unknown;
    return marks && marked !== text ? exactIntegers(value, mark) : value;
  } catch {
    if (text.length > LOCATED_CHARACTERS_MAX) throw notJson(0, 'Not valid JSON, somewhere after this position');
    const { offset, reason } = locateSyntaxError(text);
    throw notJson(offset, reason);
  }
}

/** Locating the error in a longer text would take longer than a tenth of a second. */
const LOCATED_CHARACTERS_MAX = 4_000_000;

/** In place: a reviver of JSON.parse takes a microsecond for each part of a value, whatever it is. */
function exactIntegers(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const parts = value as Record<PropertyKey, unknown>;
  const replace = (key: string | number) => {
    const part = parts[key];
    if (typeof part === 'string' || typeof part === 'object') parts[key] = exactIntegers(part, mark);
  };
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) replace(i);
  else for (const key in value) replace(key);
  return value;
}

/** A long text takes a tenth of a second; other requests can be served between its slices. */
export const SCANNED_CHARACTERS = 1_000_000;

/** Yields after each slice. Throws if the text has a different structure. */
export function* scanShape(text: string, { valuesMax, keysMax }: Shape): Generator<void> {
  let [depth, values, opening, sliceEnd] = [0, 1, -1, SCANNED_CHARACTERS];
  const keys = new Set<string>();
  for (let at = 0; at < text.length; at++) {
    if (at >= sliceEnd) {
      yield;
      sliceEnd = at + SCANNED_CHARACTERS;
    }
    const character = text.charCodeAt(at);
    if (character === QUOTE) {
      opening = at;
      at = endOfString(text, at);
    } else if (character === OPEN_LIST || character === OPEN_OBJECT) {
      if (++depth > DEPTH_MAX) throw tooDeep(at);
      values++;
    } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) depth--;
    else if (character === COMMA) values++;
    else if (character === COLON && keysMax < Infinity && opening >= 0) {
      keys.add(text.slice(opening, at));
      opening = -1; // each string is scanned only once, however many colons follow
      if (keys.size > keysMax) throw notJson(at, `More than ${keysMax} different keys`);
    }
    if (values > valuesMax) throw notJson(at, `More than ${valuesMax} values`);
  }
}

const [SPACE, QUOTE, BACKSLASH, COMMA, COLON] = [0x20, 0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** For the string that opens there: the position of its closing quote, or the end of the text if it has none. */
function endOfString(text: string, opening: number): number {
  const quote = text.indexOf('"', opening + 1);
  if (quote < 0) return text.length;
  const escape = text.slice(opening + 1, quote).indexOf('\\');
  if (escape < 0) return quote;
  for (let at = opening + 1 + escape; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === BACKSLASH) at++;
    else if (character === QUOTE) return at;
  }
  return text.length;
}

/** Where the nesting level opens. */
export const tooDeep = (offset: number): ValidationError => notJson(offset, `More than ${DEPTH_MAX} levels of nesting`);

const tooLong = (offset: number): ValidationError => notJson(offset, `An integer of more than ${DIGITS_MAX} digits`);

export const notJson = (offset: number, reason: string): ValidationError =>
  new ValidationError([
    { type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error', input: {}, ctx: { error: reason } },
  ]);

/** As Python's int() by default: longer numbers are not real input, and take quadratic time to convert. */
const DIGITS_MAX = 4_300;

const isLongInteger = (token: string, offset: number): boolean => {
  if (token.length < 16 || !/^-?[1-9]\d*(?:\.0+)?$/.test(token)) return false;
  if (token.length > DIGITS_MAX) throw tooLong(offset);
  return !Number.isSafeInteger(Number(token));
};

const isNotFinite = (token: string): boolean => token === 'NaN' || token === 'Infinity' || token === '-Infinity';

/** Each takes longer to read than ten other numbers; a trajectory has fewer tokens. */
const QUOTED_MAX = 250_000;
/** Those take longer still; seeds and limits in schemas are few. */
const LONG_INTEGERS_MAX = 10_000;

/**
 * Outside of strings, non-finite numbers become strings, and integers beyond 2^53 become strings that start with `mark`. Works by
 * character: a regular expression overflows V8's stack on texts of a few megabytes.
 */
function quoteTokens(text: string, mark: string, marksLongIntegers: boolean): string {
  if (!marksLongIntegers && !/NaN|Infinity/.test(text)) return text;
  let [result, copied, count, longIntegers] = ['', 0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) at = endOfString(text, at);
    else if (isTokenPart(character)) {
      const start = at;
      while (isTokenPart(text.charCodeAt(at + 1))) at++;
      if (!marksLongIntegers && isDigit(character)) continue;
      const token = text.slice(start, at + 1);
      const quoted = isNotFinite(token)
        ? token
        : marksLongIntegers && isLongInteger(token, start)
          ? mark + token.split('.')[0]!
          : null;
      if (quoted === null) continue;
      if (++count > QUOTED_MAX)
        throw notJson(start, `More than ${QUOTED_MAX} numbers that are not valid JSON (NaN, Infinity)`);
      if (quoted !== token && ++longIntegers > LONG_INTEGERS_MAX)
        throw notJson(start, `More than ${LONG_INTEGERS_MAX} integers beyond 2^53`);
      result += `${text.slice(copied, start)}"${quoted}"`;
      copied = at + 1;
    }
  }
  return result + text.slice(copied);
}

const isDigit = (character: number): boolean => character >= 0x30 && character <= 0x39;

/** Letters, digits, `+`, `-`, `.` */
const isTokenPart = (character: number): boolean =>
  isDigit(character) ||
  (character >= 0x41 && character <= 0x5a) ||
  (character >= 0x61 && character <= 0x7a) ||
  character === 0x2b ||
  character === 0x2d ||
  character === 0x2e;

interface SyntaxErrorAt {
  readonly offset: number;
  readonly reason: string;
}

/** V8 reports no position for most errors. Scans the text only if it is known to be invalid; error texts are Python's. */
export function locateSyntaxError(text: string): SyntaxErrorAt {
  let at = 0;
  const fail = (reason: string, offset = at): never => {
    throw new Broken(offset, reason);
  };
  const skipSpace = () => {
    while (' \t\n\r'.includes(text[at] ?? 'x')) at++;
  };
  const readString = () => {
    const start = at;
    for (;;) {
      const character = text.charCodeAt(++at);
      if (character === QUOTE) break;
      if (character === BACKSLASH) skipEscape();
      else if (Number.isNaN(character)) fail('Unterminated string starting at', start);
      else if (character < SPACE) fail('Invalid control character at');
    }
    at++;
  };
  const skipEscape = () => {
    const escaped = text.charCodeAt(at + 1);
    if (escaped === QUOTE || escaped === BACKSLASH || '/bfnrt'.includes(text[at + 1] ?? 'x')) at++;
    else if (/^u[0-9a-fA-F]{4}/.test(text.slice(at + 1, at + 6))) at += 5;
    else fail('Invalid \\escape');
  };
  // Open containers, innermost last: an explicit stack, so that deep nesting cannot overflow the call stack.
  const open: ('[' | '{')[] = [];
  try {
    for (;;) {
      skipSpace();
      const character = text[at];
      if (character === '{' || character === '[') {
        at++;
        skipSpace();
        if (text[at] === (character === '{' ? '}' : ']')) at++;
        else {
          open.push(character);
          if (character === '{') readKey();
          continue;
        }
      } else if (character === '"') readString();
      else {
        const scalar = /^(?:true|false|null|NaN|-?Infinity|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/.exec(
          text.slice(at, at + 400),
        );
        if (!scalar) fail('Expecting value');
        at += scalar![0].length;
      }
      for (;;) {
        skipSpace();
        const container = open.at(-1);
        if (container === undefined) return { offset: at, reason: 'Extra data' };
        if (text[at] === ',') {
          at++;
          skipSpace();
          if (container === '{') readKey();
          break;
        }
        if (text[at] !== (container === '{' ? '}' : ']')) fail("Expecting ',' delimiter");
        at++;
        open.pop();
      }
    }
  } catch (error) {
    if (error instanceof Broken) return { offset: error.offset, reason: error.message };
    throw error;
  }

  function readKey(): void {
    if (text[at] !== '"') fail('Expecting property name enclosed in double quotes');
    readString();
    skipSpace();
    if (text[at] !== ':') fail("Expecting ':' delimiter");
    at++;
  }
}

class Broken extends Error {
  readonly offset: number;
  constructor(offset: number, reason: string) {
    super(reason);
    this.offset = offset;
  }
}
