// Python's string literals as JSON strings: prefixes, three kinds of quotes, escapes, and strings that stand side by side.
import { CutOff, NoLiteral, type PythonScanner } from './python-scanner.ts';

const PREFIX = /([a-zA-Z]{0,2})("""|'''|"|')/y;
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

/** One or more strings, which make one. */
export function readStrings(scanner: PythonScanner): boolean {
  const begun = scanner.at;
  let isFirst = true;
  for (let found = scanner.match(PREFIX); found; found = scanner.match(PREFIX)) {
    const prefix = found[1]!.toLowerCase();
    if (prefix !== '' && prefix !== 'r' && prefix !== 'u') throw new NoLiteral();
    if (isFirst) scanner.written += '"';
    isFirst = false;
    readCharacters(scanner, found[2]!, prefix === 'r');
    scanner.isAtEnd();
  }
  if (isFirst && /^[rRuU]$/.test(scanner.text.slice(begun))) throw new CutOff();
  if (!isFirst) scanner.written += '"';
  return !isFirst;
}

function readCharacters(scanner: PythonScanner, quote: string, isRaw: boolean): void {
  const { text } = scanner;
  while (!text.startsWith(quote, scanner.at)) {
    if (scanner.at >= text.length || quote.startsWith(text.slice(scanner.at))) throw new CutOff();
    const character = text[scanner.at]!;
    if (character === '\0' || (quote.length === 1 && /[\r\n]/.test(character))) throw new NoLiteral();
    if (character === '\\') readEscape(scanner, isRaw);
    else if (character === '\r') readLineBreak(scanner);
    else {
      scanner.writeText(character);
      scanner.at++;
    }
  }
  scanner.at += quote.length;
}

/** However a line ends in the source. */
function readLineBreak(scanner: PythonScanner): void {
  scanner.at += scanner.text.startsWith('\r\n', scanner.at) ? 2 : 1;
  scanner.written += '\\n';
}

function readEscape(scanner: PythonScanner, isRaw: boolean): void {
  const { text } = scanner;
  if (scanner.at + 1 >= text.length) throw new CutOff();
  const next = text[++scanner.at]!;
  if (next === '\r' || next === '\n') {
    if (isRaw) scanner.written += '\\\\';
    const before = scanner.written;
    readLineBreak(scanner);
    if (!isRaw) scanner.written = before;
    return;
  }
  if (isRaw || !(next in ESCAPES || next in HEX_DIGITS || /[0-7N]/.test(next))) {
    scanner.written += '\\\\';
    if (isRaw) scanner.writeText(text[scanner.at++]!);
    return;
  }
  if (next === 'N') throw new NoLiteral();
  const code = /[0-7]/.test(next)
    ? parseInt(scanner.match(/[0-7]{1,3}/y)![0], 8)
    : next in HEX_DIGITS
      ? readHexadecimal(scanner, next)
      : null;
  if (code === null) scanner.at++;
  scanner.writeText(
    code === null ? ESCAPES[next]! : code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code),
  );
}

function readHexadecimal(scanner: PythonScanner, kind: string): number {
  const length = HEX_DIGITS[kind]!;
  const digits = scanner.text.slice(scanner.at + 1, scanner.at + 1 + length);
  if (!/^[\da-fA-F]*$/.test(digits)) throw new NoLiteral();
  if (digits.length < length) throw new CutOff();
  const code = parseInt(digits, 16);
  if (code > 0x10ffff) throw new NoLiteral();
  scanner.at += 1 + length;
  return code;
}
