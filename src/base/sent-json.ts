// JSON as Python's clients write it: the bare tokens NaN and Infinity become strings, and integers beyond 2^53, also with `.0`, bigints.
// What else JSON.parse would lose is noted beside the objects (python-form.ts). Texts that are written here read back with all of it.
import { randomBytes } from 'node:crypto';
import { LazyList } from './lazy-list.ts';
import { notePythonForm, pythonForm, pythonKeys } from './python-form.ts';

/** Numbers that take longer to read than others. */
export interface NumberLimits {
  readonly notFiniteMax: number;
  readonly longIntegersMax: number;
  /** Of one integer. */
  readonly digitsMax: number;
  /** If a text has more floats and keys to note, none of them is noted. */
  readonly notesMax: number;
}

const NO_LIMITS: NumberLimits = {
  notFiniteMax: Infinity,
  longIntegersMax: Infinity,
  digitsMax: Infinity,
  notesMax: Infinity,
};

export class NumberLimitError extends Error {
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** Integers beyond 2^53: bigints, or rounded as JSON.parse does; then notes have them exactly. `notedUnder`: only lists under this key have notes. */
export type LongIntegers = 'exact' | 'rounded' | { readonly notedUnder: string };

/** What JSON.parse does not read as Python does, or looks like it: few texts have any. */
const DIFFERENT = /NaN|Infinity|\d{16}|[:,[]\s*-?\d+(?:\.0+(?!\d)|(?:\.\d+)?[eE])|"(?:\d|\\u003\d)+"\s*:/;
const NOT_FINITE = /NaN|Infinity/;

/** Throws SyntaxError, NumberLimitError. */
export function parseSentJson(text: string, integers: LongIntegers = 'exact', limits = NO_LIMITS): unknown {
  if (typeof integers === 'object') {
    const lists = listsUnder(text, integers.notedUnder).filter(([from, to]) => DIFFERENT.test(text.slice(from, to)));
    if (lists.length === 0) return parseSentJson(text, 'rounded', { ...limits, notesMax: 0 });
    const mark = newMark();
    return restored(JSON.parse(markTokens(text, mark, false, limits, lists)), mark, false);
  }
  const isExact = integers === 'exact';
  const hasMarks = isExact || limits.notesMax > 0;
  if (!(hasMarks ? DIFFERENT : NOT_FINITE).test(text)) return JSON.parse(text) as unknown;
  const mark = hasMarks ? newMark() : '';
  const marked = markTokens(text, mark, isExact, limits);
  const value = JSON.parse(marked) as unknown;
  return hasMarks && marked !== text ? restored(value, mark, isExact) : value;
}

/** No client can guess it and send a string with this prefix. */
const newMark = (): string => randomBytes(9).toString('base64url');

/** Characters `[from, to)`. */
type Span = readonly [from: number, to: number];

const OPENING_LIST = /\s*:\s*(?=\[)/y;

/** Of complete lists; none lies in another. A text cannot contain the key between bare quotes. */
function listsUnder(text: string, key: string): Span[] {
  const spans: Span[] = [];
  const quoted = JSON.stringify(key);
  for (let at = text.indexOf(quoted); at >= 0; at = text.indexOf(quoted, at)) {
    at += quoted.length;
    OPENING_LIST.lastIndex = at;
    if (!OPENING_LIST.test(text)) continue;
    const from = OPENING_LIST.lastIndex;
    at = endOfList(text, from);
    spans.push([from, at]);
  }
  return spans;
}

function endOfList(text: string, opening: number): number {
  let depth = 0;
  for (let at = opening; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '[') depth++;
    else if (character === ']' && --depth === 0) return at + 1;
  }
  return text.length;
}

const [QUOTE, BACKSLASH, DOT, MINUS, COLON] = [0x22, 0x5c, 0x2e, 0x2d, 0x3a];

/** For the string that opens there: the position of its closing quote, or the end of the text if it has none. */
export function endOfString(text: string, opening: number): number {
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

/**
 * Outside of strings, numbers that JSON.parse would change become strings that start with `mark`, and so do keys that look like
 * integers. An empty mark, and outside of `lists`: only numbers that are not finite. Works by character: a regular expression overflows
 * V8's stack on texts of a few megabytes.
 */
function markTokens(
  text: string,
  whole: string,
  isExact: boolean,
  limits: NumberLimits,
  lists: readonly Span[] = [[0, text.length]],
): string {
  let list = 0;
  let [result, copied, notFinite, longIntegers, notes] = ['', 0, 0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    while (list < lists.length && at >= lists[list]![1]) list++;
    const mark = list < lists.length && at >= lists[list]![0] ? whole : '';
    const areNoted = mark !== '' && limits.notesMax > 0;
    const character = text.charCodeAt(at);
    if (character === QUOTE) {
      const end = endOfString(text, at);
      if (areNoted && isIntegerKey(text, at, end)) {
        notes++;
        result += text.slice(copied, at + 1) + mark;
        copied = at + 1;
      }
      at = end;
    } else if (isTokenPart(character)) {
      const start = at;
      let isFloat = false;
      for (let next = text.charCodeAt(at + 1); isTokenPart(next); next = text.charCodeAt(++at + 1))
        isFloat ||= next === DOT || next === 0x65 || next === 0x45;
      const isNumber = isDigit(character) || character === MINUS;
      if (isNumber && isDigit(text.charCodeAt(at)) && (mark === '' || (!isFloat && at - start < 15))) continue;
      const token = text.slice(start, at + 1);
      if (isNotFinite(token)) {
        if (++notFinite > limits.notFiniteMax)
          throw new NumberLimitError(
            start,
            `More than ${limits.notFiniteMax} numbers that are not valid JSON (NaN, Infinity)`,
          );
      } else if (mark === '' || !isNumber) continue;
      else if ((isExact || areNoted) && isLongInteger(token)) {
        if (token.length > limits.digitsMax)
          throw new NumberLimitError(start, `An integer of more than ${limits.digitsMax} digits`);
        if (++longIntegers > limits.longIntegersMax)
          throw new NumberLimitError(start, `More than ${limits.longIntegersMax} integers beyond 2^53`);
      } else if (!areNoted || !isFloat || !Number.isInteger(Number(token)) || !NUMBER.test(token)) continue;
      if (isFloat) notes++;
      result += `${text.slice(copied, start)}"${mark}${token}"`;
      copied = at + 1;
    }
    if (areNoted && notes > limits.notesMax) return markTokens(text, whole, isExact, { ...limits, notesMax: 0 }, lists);
  }
  return result + text.slice(copied);
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER_KEY = /^(?:\d|\\u003\d)+$/;
/** The longest that JavaScript sorts: ten digits, each escaped. */
const INTEGER_KEY_LENGTH_MAX = 60;

function isIntegerKey(text: string, opening: number, closing: number): boolean {
  const first = text.charCodeAt(opening + 1);
  if (!isDigit(first) && first !== BACKSLASH) return false;
  if (closing - opening - 1 > INTEGER_KEY_LENGTH_MAX) return false;
  let at = closing + 1;
  while (' \t\n\r'.includes(text[at] ?? 'x')) at++;
  return text.charCodeAt(at) === COLON && INTEGER_KEY.test(text.slice(opening + 1, closing));
}

/** Not the safe ones. */
const isLongInteger = (token: string): boolean =>
  token.length >= 16 && /^-?[1-9]\d*(?:\.0+)?$/.test(token) && !Number.isSafeInteger(Number(token));

const isNotFinite = (token: string): boolean => token === 'NaN' || token === 'Infinity' || token === '-Infinity';

const isDigit = (character: number): boolean => character >= 0x30 && character <= 0x39;

/** Letters, digits, `+`, `-`, `.` */
const isTokenPart = (character: number): boolean =>
  isDigit(character) ||
  (character >= 0x41 && character <= 0x5a) ||
  (character >= 0x61 && character <= 0x7a) ||
  character === 0x2b ||
  character === MINUS ||
  character === DOT;

function readToken(token: string, isExact: boolean): unknown {
  if (isNotFinite(token)) return token;
  return isExact && isLongInteger(token) ? BigInt(token.split('.')[0]!) : Number(token);
}

/** In place, but for objects with marked keys: a reviver of JSON.parse takes a microsecond for each part of a value, whatever it is. */
function restored(value: unknown, mark: string, isExact: boolean): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? readToken(value.slice(mark.length), isExact) : value;
  if (typeof value !== 'object' || value === null) return value;
  const parts = value as Record<string | number, unknown>;
  const bare = (key: string) => (key.startsWith(mark) ? key.slice(mark.length) : key);
  let floats: Set<string> | null = null;
  let integers: Map<string, bigint> | null = null;
  let isMarked = false;
  const restore = (key: string | number) => {
    const part = parts[key];
    if (typeof part === 'string') {
      if (!part.startsWith(mark)) return;
      const token = part.slice(mark.length);
      if (/[.eENI]/.test(token)) (floats ??= new Set()).add(bare(String(key)));
      else if (!isExact) (integers ??= new Map()).set(bare(String(key)), BigInt(token));
    } else if (typeof part !== 'object') return;
    parts[key] = restored(part, mark, isExact);
  };
  if (Array.isArray(value)) for (let i = 0; i < value.length; i++) restore(i);
  else
    for (const key in value) {
      isMarked ||= key.startsWith(mark);
      restore(key);
    }
  const whole = isMarked ? Object.fromEntries(Object.entries(parts).map(([key, part]) => [bare(key), part])) : value;
  const sent = isMarked ? Object.keys(parts).map(bare) : null;
  const own = sent && Object.keys(whole);
  const keys = sent?.some((key, i) => key !== own![i]) ? sent : null;
  if (floats || integers || keys)
    notePythonForm(whole, { floats: floats ?? new Set(), integers: integers ?? new Map(), keys });
  return whole;
}

/** For JSON.stringify, of what clients read: as JSON.parse would read them. */
export const roundLongIntegers = (_: string, part: unknown): unknown =>
  typeof part === 'bigint' ? Number(part) : part;

/** Between items, and between key and value. */
type Separators = readonly [string, string];

/** As `json.dumps` writes them, with default settings. */
export const PYTHON_SEPARATORS: Separators = [', ', ': '];

/** JSON text with all that was noted. `separators`: JavaScript's by default. Values are JSON, bigints, lazy lists, and undefined, which is left out. */
export function stringifySentJson(value: unknown, [comma, colon]: Separators = [',', ':']): string {
  const write = (part: unknown): string => {
    if (typeof part === 'bigint') return String(part);
    if (part === Infinity || part === -Infinity) return part > 0 ? '1e999' : '-1e999';
    if (typeof part !== 'object' || part === null) return JSON.stringify(part) ?? 'null';
    if (part instanceof LazyList) return `[${Array.from(part, write).join(comma)}]`;
    const form = pythonForm(part);
    const item = (key: string | number, each: unknown) =>
      form?.floats.has(String(key)) ? floatText(Number(each)) : write(form?.integers.get(String(key)) ?? each);
    if (Array.isArray(part)) return `[${part.map((each: unknown, i) => item(i, each)).join(comma)}]`;
    const values = part as Readonly<Record<string, unknown>>;
    const sent = pythonKeys(part).filter((key) => values[key] !== undefined);
    return `{${sent.map((key) => JSON.stringify(key) + colon + item(key, values[key])).join(comma)}}`;
  };
  return write(value);
}

const floatText = (value: number): string => {
  if (Object.is(value, -0)) return '-0.0';
  return Number.isSafeInteger(value) ? `${value}.0` : value.toExponential();
};
