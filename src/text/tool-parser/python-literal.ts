// Python's literals as JSON text, as `ast.literal_eval` reads them and `json.dumps` writes them: what the former refuses, or the latter
// cannot write (bytes, complex numbers, infinity), is no value. As vLLM's parsers do, `true`, `false` and `null` are read too, and a set
// is a list. Names of characters, `\N{…}`, are not known here: such text is no value either. python/golden/make_literals.py compares.
import { pythonFloatText } from '../python-json.ts';
import { jsonText } from './json-text.ts';

export interface PythonArguments {
  /** JSON text of an object; of a call that was cut off, the beginning of it. */
  readonly json: string;
  readonly isComplete: boolean;
}

/** `a=1, b='x')` up to the closing bracket, which ends the text. Null: it is not a list of named literals. */
export function readPythonArguments(text: string): PythonArguments | null {
  const reader = createReader(text);
  try {
    reader.keywords();
    return { json: reader.written, isComplete: true };
  } catch (error) {
    if (error instanceof CutOff) return { json: reader.written, isComplete: false };
    if (error instanceof NoLiteral) return null;
    throw error;
  }
}

/** One literal; null: the text is none. */
export function pythonLiteralJson(text: string): string | null {
  const reader = createReader(text);
  try {
    reader.value(0);
    return reader.isAtEnd() ? reader.written : null;
  } catch (error) {
    if (error instanceof CutOff || error instanceof NoLiteral) return null;
    throw error;
  }
}

class NoLiteral extends Error {}
/** The text ended inside a literal. */
class CutOff extends Error {}

/** Python's own limits: of brackets in brackets, and of an integer's digits. */
const DEPTH_MAX = 200;
const DIGITS_MAX = 4300;

/** White space inside brackets, continued lines and comments. */
const SPACE = /(?:[ \t\f\r\n]|\\\r?\n|#[^\r\n]*)*/y;
const NAME = /[\p{XID_Start}_]\p{XID_Continue}*/uy;
const PREFIX = /([a-zA-Z]{0,2})("""|'''|"|')/y;
const NUMBER =
  /0[xX](?:_?[\da-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|(?:(?:\d(?:_?\d)*)?\.\d(?:_?\d)*|\d(?:_?\d)*\.?)(?:[eE][+-]?\d(?:_?\d)*)?/y;
const NAMES: Readonly<Record<string, string>> = {
  True: 'true',
  False: 'false',
  None: 'null',
  true: 'true',
  false: 'false',
  null: 'null',
};
const CLOSE: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}' };

function createReader(text: string) {
  let at = 0;
  let written = '';

  function match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found;
  }

  /** The next character that is not space. */
  function peek(): string {
    match(SPACE);
    if (at >= text.length) throw new CutOff();
    return text[at]!;
  }

  function take(character: string): boolean {
    if (peek() !== character) return false;
    at++;
    return true;
  }

  function expect(character: string): void {
    if (!take(character)) throw new NoLiteral();
  }

  function keywords(): void {
    written += '{';
    const names = new Set<string>();
    while (!take(')')) {
      const name = match(NAME)?.[0].normalize('NFKC');
      if (name === undefined) throw new NoLiteral();
      expect('=');
      if (names.has(name)) throw new NoLiteral();
      written += `${names.size > 0 ? ', ' : ''}${JSON.stringify(name)}: `;
      names.add(name);
      value(0);
      if (peek() !== ')') expect(',');
    }
    if (!isAtEnd()) throw new NoLiteral();
    written += '}';
  }

  function value(depth: number): void {
    if (depth > DEPTH_MAX) throw new NoLiteral();
    const character = peek();
    if (character === '[') list(depth);
    else if (character === '(') tuple(depth);
    else if (character === '{') braces(depth);
    else if (character === '-' || character === '+') signed(depth);
    else if (!string() && !number('')) name();
  }

  /** The items up to the closing bracket; the opening one was read. Returns whether there was a comma. */
  function items(close: string, depth: number): boolean {
    let comma = false;
    for (let first = true; !take(close); first = false) {
      if (!first) written += ', ';
      value(depth + 1);
      if (peek() !== close) {
        expect(',');
        comma = true;
      }
    }
    return comma;
  }

  function list(depth: number): void {
    at++;
    written += '[';
    items(']', depth);
    written += ']';
  }

  /** Brackets around one value without a comma mean nothing. */
  function tuple(depth: number): void {
    at++;
    const before = written;
    const isEmpty = peek() === ')';
    written = '';
    try {
      const isTuple = items(')', depth) || isEmpty;
      written = isTuple ? `${before}[${written}]` : before + written;
    } catch (error) {
      written = before + (written.includes(',') ? '[' : '') + written;
      throw error;
    }
  }

  function braces(depth: number): void {
    at++;
    const begun = written.length;
    written += '{';
    if (take('}')) {
      written += '}';
      return;
    }
    const keyAt = written.length;
    value(depth + 1);
    if (peek() !== ':') {
      written = `${written.slice(0, begun)}[${written.slice(keyAt)}`;
      if (take(',')) {
        if (peek() !== '}') written += ', ';
        items('}', depth);
      } else expect('}');
      written += ']';
      return;
    }
    pair(keyAt, depth);
    while (!take('}')) {
      expect(',');
      if (take('}')) break;
      written += ', ';
      const next = written.length;
      value(depth + 1);
      pair(next, depth);
    }
    written += '}';
  }

  /** The key was read, as a value. */
  function pair(keyAt: number, depth: number): void {
    const key = written.slice(keyAt);
    if (/^[[{]/.test(key)) throw new NoLiteral();
    const isFloat = /^-?\d/.test(key) && /[.eE]/.test(key);
    written =
      written.slice(0, keyAt) + (key.startsWith('"') ? key : `"${isFloat ? pythonFloatText(Number(key)) : key}"`);
    expect(':');
    written += ': ';
    value(depth + 1);
  }

  /** A sign belongs to one number, which may stand in brackets. */
  function signed(depth: number): void {
    const sign = text[at++]!;
    let brackets = 0;
    while (take('(')) if (++brackets + depth > DEPTH_MAX) throw new NoLiteral();
    peek();
    if (!number(sign === '-' ? '-' : '')) throw new NoLiteral();
    while (brackets-- > 0) expect(')');
  }

  function number(sign: string): boolean {
    const found = match(NUMBER)?.[0];
    if (found === undefined) return false;
    if (at >= text.length) throw new CutOff(); // it may go on
    if (/[\w.\p{XID_Continue}]/u.test(text[at]!)) throw new NoLiteral();
    written += sign + numberJson(found.replaceAll('_', ''));
    return true;
  }

  function name(): void {
    const found = match(NAME)?.[0];
    if (found === undefined) throw new NoLiteral();
    if (at >= text.length) throw new CutOff();
    if (!Object.hasOwn(NAMES, found)) throw new NoLiteral();
    written += NAMES[found]!;
  }

  /** One or more strings, which make one. */
  function string(): boolean {
    const begun = at;
    let isFirst = true;
    for (let found = match(PREFIX); found; found = match(PREFIX)) {
      const prefix = found[1]!.toLowerCase();
      if (prefix !== '' && prefix !== 'r' && prefix !== 'u') throw new NoLiteral();
      if (isFirst) written += '"';
      isFirst = false;
      characters(found[2]!, prefix === 'r');
      match(SPACE);
    }
    if (isFirst && /^[rRuU]$/.test(text.slice(begun))) throw new CutOff();
    if (!isFirst) written += '"';
    return !isFirst;
  }

  function characters(quote: string, isRaw: boolean): void {
    while (!text.startsWith(quote, at)) {
      if (at >= text.length || quote.startsWith(text.slice(at))) throw new CutOff();
      const character = text[at]!;
      if (character === '\0' || (quote.length === 1 && /[\r\n]/.test(character))) throw new NoLiteral();
      if (character === '\\') escape(isRaw);
      else if (character === '\r') lineBreak();
      else {
        written += jsonText(character);
        at++;
      }
    }
    at += quote.length;
  }

  /** However a line ends in the source. */
  function lineBreak(): void {
    at += text.startsWith('\r\n', at) ? 2 : 1;
    written += '\\n';
  }

  function escape(isRaw: boolean): void {
    if (at + 1 >= text.length) throw new CutOff();
    const next = text[++at]!;
    if (next === '\r' || next === '\n') {
      if (isRaw) written += '\\\\';
      const before = written;
      lineBreak();
      if (!isRaw) written = before;
      return;
    }
    if (isRaw || !(next in ESCAPES || next in HEX_DIGITS || /[0-7N]/.test(next))) {
      written += '\\\\';
      if (isRaw) written += jsonText(text[at++]!);
      return;
    }
    if (next === 'N') throw new NoLiteral();
    const code = /[0-7]/.test(next)
      ? parseInt(match(/[0-7]{1,3}/y)![0], 8)
      : next in HEX_DIGITS
        ? hexadecimal(next)
        : null;
    if (code === null) at++;
    written += jsonText(
      code === null ? ESCAPES[next]! : code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code),
    );
  }

  function hexadecimal(kind: string): number {
    const length = HEX_DIGITS[kind]!;
    const digits = text.slice(at + 1, at + 1 + length);
    if (!/^[\da-fA-F]*$/.test(digits)) throw new NoLiteral();
    if (digits.length < length) throw new CutOff();
    const code = parseInt(digits, 16);
    if (code > 0x10ffff) throw new NoLiteral();
    at += 1 + length;
    return code;
  }

  return {
    keywords,
    value,
    isAtEnd(): boolean {
      match(SPACE);
      return at >= text.length;
    },
    get written() {
      return written;
    },
  };

  function isAtEnd(): boolean {
    match(SPACE);
    return at >= text.length;
  }
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  '\\': '\\',
  "'": "'",
  '"': '"',
};
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Without underscores. */
function numberJson(literal: string): string {
  if (/^0[xob]/i.test(literal)) return BigInt(literal).toString();
  if (/^\d+$/.test(literal)) {
    if (literal.length > DIGITS_MAX || /^0+[1-9]/.test(literal)) throw new NoLiteral();
    return literal.replace(/^0+(?=0)/, '');
  }
  if (!Number.isFinite(Number(literal))) throw new NoLiteral();
  const [, whole = '', fraction, exponent = ''] = /^(\d*)(?:\.(\d*))?([eE].*)?$/.exec(literal)!;
  const integer = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${integer}${fraction === undefined ? '' : `.${fraction || '0'}`}${exponent}`;
}

/** Whether the bracket closes that one. */
export const closes = (open: string, close: string): boolean => CLOSE[open] === close;
