// Python's literals as JSON text, as `ast.literal_eval` reads them and `json.dumps` writes them: what the former refuses, or the latter
// cannot write (bytes, complex numbers, infinity), is no value. As vLLM's parsers do, `true`, `false` and `null` are read too, and a set
// is a list. Names of characters, `\N{…}`, are not known here: such text is no value either. python/golden/make_literals.py compares.
import { pythonFloatText } from '../python-json.ts';
import { CutOff, NoLiteral, PythonScanner } from './python-scanner.ts';
import { readStrings } from './python-strings.ts';

export interface PythonArguments {
  /** JSON text of an object; of a call that was cut off, the beginning of it. */
  readonly json: string;
  readonly isComplete: boolean;
}

/** `a=1, b='x')` up to the closing bracket, which ends the text. Null: it is not a list of named literals. */
export function readPythonArguments(text: string): PythonArguments | null {
  const reader = new PythonReader(text);
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
  const reader = new PythonReader(text);
  try {
    reader.value(0);
    return reader.isAtEnd() ? reader.written : null;
  } catch (error) {
    if (error instanceof CutOff || error instanceof NoLiteral) return null;
    throw error;
  }
}

/** Python's own limits: of brackets in brackets, and of an integer's digits. */
const DEPTH_MAX = 200;
const DIGITS_MAX = 4300;

const NAME = /[\p{XID_Start}_]\p{XID_Continue}*/uy;
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

class PythonReader extends PythonScanner {
  keywords(): void {
    this.written += '{';
    const names = new Set<string>();
    while (!this.take(')')) {
      const name = this.match(NAME)?.[0].normalize('NFKC');
      if (name === undefined) throw new NoLiteral();
      this.expect('=');
      if (names.has(name)) throw new NoLiteral();
      this.written += `${names.size > 0 ? ', ' : ''}${JSON.stringify(name)}: `;
      names.add(name);
      this.value(0);
      if (this.peek() !== ')') this.expect(',');
    }
    if (!this.isAtEnd()) throw new NoLiteral();
    this.written += '}';
  }

  value(depth: number): void {
    if (depth > DEPTH_MAX) throw new NoLiteral();
    const character = this.peek();
    if (character === '[') this.#list(depth);
    else if (character === '(') this.#tuple(depth);
    else if (character === '{') this.#braces(depth);
    else if (character === '-' || character === '+') this.#signed(depth);
    else if (!readStrings(this) && !this.#number('')) this.#name();
  }

  /** The items up to the closing bracket; the opening one was read. Returns whether there was a comma. */
  #items(close: string, depth: number): boolean {
    let comma = false;
    for (let first = true; !this.take(close); first = false) {
      if (!first) this.written += ', ';
      this.value(depth + 1);
      if (this.peek() !== close) {
        this.expect(',');
        comma = true;
      }
    }
    return comma;
  }

  #list(depth: number): void {
    this.at++;
    this.written += '[';
    this.#items(']', depth);
    this.written += ']';
  }

  /** Brackets around one value without a comma mean nothing. */
  #tuple(depth: number): void {
    this.at++;
    const before = this.written;
    const isEmpty = this.peek() === ')';
    this.written = '';
    try {
      const isTuple = this.#items(')', depth) || isEmpty;
      this.written = isTuple ? `${before}[${this.written}]` : before + this.written;
    } catch (error) {
      this.written = before + (this.written.includes(',') ? '[' : '') + this.written;
      throw error;
    }
  }

  #braces(depth: number): void {
    this.at++;
    const begun = this.written.length;
    this.written += '{';
    if (this.take('}')) {
      this.written += '}';
      return;
    }
    const keyAt = this.written.length;
    this.value(depth + 1);
    if (this.peek() !== ':') {
      this.written = `${this.written.slice(0, begun)}[${this.written.slice(keyAt)}`;
      if (this.take(',')) {
        if (this.peek() !== '}') this.written += ', ';
        this.#items('}', depth);
      } else this.expect('}');
      this.written += ']';
      return;
    }
    this.#pair(keyAt, depth);
    while (!this.take('}')) {
      this.expect(',');
      if (this.take('}')) break;
      this.written += ', ';
      const next = this.written.length;
      this.value(depth + 1);
      this.#pair(next, depth);
    }
    this.written += '}';
  }

  /** The key was read, as a value. */
  #pair(keyAt: number, depth: number): void {
    const key = this.written.slice(keyAt);
    if (/^[[{]/.test(key)) throw new NoLiteral();
    const isFloat = /^-?\d/.test(key) && /[.eE]/.test(key);
    this.written =
      this.written.slice(0, keyAt) + (key.startsWith('"') ? key : `"${isFloat ? pythonFloatText(Number(key)) : key}"`);
    this.expect(':');
    this.written += ': ';
    this.value(depth + 1);
  }

  /** A sign belongs to one number, which may stand in brackets. */
  #signed(depth: number): void {
    const sign = this.text[this.at++]!;
    let brackets = 0;
    while (this.take('(')) if (++brackets + depth > DEPTH_MAX) throw new NoLiteral();
    this.peek();
    if (!this.#number(sign === '-' ? '-' : '')) throw new NoLiteral();
    while (brackets-- > 0) this.expect(')');
  }

  #number(sign: string): boolean {
    const found = this.match(NUMBER)?.[0];
    if (found === undefined) return false;
    if (this.at >= this.text.length) throw new CutOff(); // it may go on
    if (/[\w.\p{XID_Continue}]/u.test(this.text[this.at]!)) throw new NoLiteral();
    this.written += sign + numberJson(found.replaceAll('_', ''));
    return true;
  }

  #name(): void {
    const found = this.match(NAME)?.[0];
    if (found === undefined) throw new NoLiteral();
    if (this.at >= this.text.length) throw new CutOff();
    if (!Object.hasOwn(NAMES, found)) throw new NoLiteral();
    this.written += NAMES[found]!;
  }
}

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
