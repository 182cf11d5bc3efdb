// A position in a text of Python's, and what has been written of it as JSON. Knows white space between tokens, and no literal.
import { jsonText } from './json-text.ts';

/** The text is no literal that JSON can express. */
export class NoLiteral extends Error {}
/** The text ended inside a literal. */
export class CutOff extends Error {}

/** White space inside brackets, continued lines and comments. */
const SPACE = /(?:[ \t\f\r\n]|\\\r?\n|#[^\r\n]*)*/y;

export class PythonScanner {
  at = 0;
  written = '';
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** `pattern` is sticky. */
  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found) this.at += found[0].length;
    return found;
  }

  isAtEnd(): boolean {
    this.match(SPACE);
    return this.at >= this.text.length;
  }

  /** The next character that is not space. */
  peek(): string {
    if (this.isAtEnd()) throw new CutOff();
    return this.text[this.at]!;
  }

  take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at++;
    return true;
  }

  expect(character: string): void {
    if (!this.take(character)) throw new NoLiteral();
  }

  writeText(text: string): void {
    this.written += jsonText(text);
  }
}
