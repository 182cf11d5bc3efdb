// Converts arguments that are literals of another language than JSON to JSON, piece by piece: objects and lists, strings, numbers and
// names, as in Python (`a=1, b=['x'])`) or Gemma (`a:1,b:[<escape>x<escape>]}`). Duplicate keys are passed on.
import { jsonText } from './json-text.ts';

export interface Dialect {
  /** What a string may begin with; it ends with the same. Longer ones come first. */
  readonly quotes: readonly string[];
  /** Backslashes in strings are escapes. */
  readonly escapes: boolean;
  /** Opening bracket → closing one. Braces are objects, all others lists. */
  readonly brackets: Readonly<Record<string, string>>;
  /** Keys of objects are unquoted. */
  readonly bareKeys: boolean;
  /** A number or name; sticky. */
  readonly atom: RegExp;
  /** As JSON text; null: it is not a value. */
  readonly atomValue: (atom: string) => string | null;
}

export interface LiteralReader {
  /** As in CallReader. */
  read(text: string, from: number): number;
  readonly state: 'reading' | 'done' | 'broken';
  /** JSON text read since the last time. */
  take(): string;
}

interface Frame {
  readonly kind: 'object' | 'list';
  readonly close: string;
  readonly colon: string;
  readonly bareKeys: boolean;
  isEmpty: boolean;
  next: 'item' | 'colon' | 'value' | 'comma';
}

interface OpenString {
  readonly quote: string;
  readonly isKey: boolean;
}

const SPACES = /\s*/y;
/** Ends where a separator or bracket stands. */
const BARE_KEY = /[^\s:=,(){}[\]<"']+/y;

/** `close` and `colon` are those of the outermost object, which is already open. */
export function createLiteralReader(
  dialect: Dialect,
  { close, colon }: { close: string; colon: string },
): LiteralReader {
  const frames: Frame[] = [{ kind: 'object', close, colon, bareKeys: true, isEmpty: true, next: 'item' }];
  let string: OpenString | null = null;
  let state: LiteralReader['state'] = 'reading';
  let written = '{';

  /** Where it stopped; -1: more text is needed; -2: it cannot continue like this. */
  function step(text: string, at: number): number {
    if (string !== null) return readString(text, at, string);
    const frame = frames.at(-1)!;
    const from = at + matchAt(SPACES, text, at)!.length;
    if (from >= text.length) return from;
    const character = text[from]!;
    if (character === frame.close && (frame.next === 'item' || frame.next === 'comma')) return closeFrame(from);
    switch (frame.next) {
      case 'item':
        return frame.kind === 'object' ? readKey(text, from, frame) : readValue(text, from, frame);
      case 'colon':
        if (character !== frame.colon) return BROKEN;
        frame.next = 'value';
        written += ': ';
        return from + 1;
      case 'value':
        return readValue(text, from, frame);
      case 'comma':
        if (character !== ',') return BROKEN;
        frame.next = 'item';
        return from + 1;
    }
  }

  function closeFrame(at: number): number {
    written += frames.pop()!.kind === 'object' ? '}' : ']';
    if (frames.length === 0) state = 'done';
    else frames.at(-1)!.next = 'comma';
    return at + 1;
  }

  function beginItem(frame: Frame): void {
    if (!frame.isEmpty && frame.next === 'item') written += ', ';
    frame.isEmpty = false;
  }

  function readKey(text: string, at: number, frame: Frame): number {
    const quote = quoteAt(text, at);
    if (quote === WAIT) return WAIT;
    if (quote !== null) {
      beginItem(frame);
      return beginString(at, quote, true);
    }
    const key = matchAt(frame.bareKeys ? BARE_KEY : dialect.atom, text, at);
    if (key === null) return BROKEN;
    if (at + key.length === text.length) return WAIT;
    const json = frame.bareKeys ? JSON.stringify(key) : dialect.atomValue(key);
    if (json === null) return BROKEN;
    beginItem(frame);
    written += json.startsWith('"') ? json : JSON.stringify(json);
    frame.next = 'colon';
    return at + key.length;
  }

  function readValue(text: string, at: number, frame: Frame): number {
    const quote = quoteAt(text, at);
    if (quote === WAIT) return WAIT;
    if (quote !== null) {
      beginItem(frame);
      return beginString(at, quote, false);
    }
    const closing = dialect.brackets[text[at]!];
    if (closing !== undefined) {
      beginItem(frame);
      const kind = closing === '}' ? 'object' : 'list';
      written += kind === 'object' ? '{' : '[';
      frames.push({ kind, close: closing, colon: ':', bareKeys: dialect.bareKeys, isEmpty: true, next: 'item' });
      return at + 1;
    }
    const atom = matchAt(dialect.atom, text, at);
    if (atom === null) return BROKEN;
    if (at + atom.length === text.length) return WAIT;
    const json = dialect.atomValue(atom.trimEnd());
    if (json === null) return BROKEN;
    beginItem(frame);
    written += json;
    frame.next = 'comma';
    return at + atom.length;
  }

  /** The quote at this position; null: none. */
  function quoteAt(text: string, at: number): string | typeof WAIT | null {
    for (const quote of dialect.quotes) {
      if (text.startsWith(quote, at)) return quote;
      if (quote.startsWith(text.slice(at))) return WAIT;
    }
    return null;
  }

  function beginString(at: number, quote: string, isKey: boolean): number {
    written += '"';
    string = { quote, isKey };
    return at + quote.length;
  }

  function readString(text: string, from: number, { quote, isKey }: OpenString): number {
    let at = from;
    while (at < text.length) {
      if (text.startsWith(quote, at)) {
        written += '"';
        string = null;
        frames.at(-1)!.next = isKey ? 'colon' : 'comma';
        return at + quote.length;
      }
      if (quote.startsWith(text.slice(at))) return at === from ? WAIT : at;
      const escape = dialect.escapes && text[at] === '\\' ? readEscape(text, at) : null;
      if (escape === WAIT) return at === from ? WAIT : at;
      written += jsonText(escape?.meaning ?? text[at]!);
      at += escape?.length ?? 1;
    }
    return at;
  }

  return {
    read(text, from) {
      let at = from;
      while (state === 'reading') {
        const next = step(text, at);
        if (next === BROKEN) state = 'broken';
        if (next === BROKEN || next === WAIT || (next === at && at >= text.length)) return at;
        at = next;
      }
      return at;
    },
    get state() {
      return state;
    },
    take() {
      const taken = written;
      written = '';
      return taken;
    },
  };
}

const WAIT = -1;
const BROKEN = -2;

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07', '0': '\0', '\n': '',
  '\\': '\\', "'": "'", '"': '"', '/': '/',
}; // prettier-ignore
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** As Python reads it, and JSON's `\/`; a backslash before any other character is literal. */
function readEscape(text: string, at: number): { meaning: string; length: number } | typeof WAIT {
  const kind = text[at + 1];
  if (kind === undefined) return WAIT;
  const meaning = ESCAPES[kind];
  if (meaning !== undefined) return { meaning, length: 2 };
  const digits = HEX_DIGITS[kind];
  if (digits === undefined) return { meaning: '\\', length: 1 };
  const hex = text.slice(at + 2, at + 2 + digits);
  if (!/^[\da-fA-F]*$/.test(hex)) return { meaning: '\\', length: 1 };
  if (hex.length < digits) return WAIT;
  const code = parseInt(hex, 16);
  return code > 0x10ffff ? { meaning: '\\', length: 1 } : { meaning: character(code), length: 2 + digits };
}

/** Also for half of a surrogate pair, whose other half is a separate escape. */
const character = (code: number): string => (code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code));
