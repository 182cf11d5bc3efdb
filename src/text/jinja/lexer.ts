// Cuts a template into text and the tokens of its tags, as Jinja2's lexer does with trim_blocks and lstrip_blocks, which is how
// Transformers configures it. Knows no grammar.
import { TemplateSyntaxError } from './errors.ts';
import { isSpace, trimEnd, WHITE_SPACE } from './white-space.ts';

export type TokenType =
  | 'text'
  | 'begin block'
  | 'end block'
  | 'begin output'
  | 'end output'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'operator'
  | 'end';

export interface Token {
  readonly type: TokenType;
  /** Of a string: its characters, without quotes and escapes. */
  readonly text: string;
  readonly line: number;
}

const SPACE = `[${WHITE_SPACE}]`;
const RAW_BEGIN = new RegExp(`${SPACE}*raw${SPACE}*(-?)%\\}`, 'y');
const RAW_END = new RegExp(`\\{%([-+]?)${SPACE}*endraw${SPACE}*([-+]?)%\\}`, 'g');
const COMMENT_END = /([-+]?)#\}/g;
const SPACES = new RegExp(`${SPACE}*`, 'y');
const TOKENS: readonly (readonly [TokenType, RegExp])[] = [
  ['float', /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy],
  ['integer', /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy],
  ['name', /[\p{L}\p{N}\p{Mn}\p{Mc}_]+/uy],
  ['string', /'(?:[^'\\]|\\[^])*'|"(?:[^"\\]|\\[^])*"/y],
  ['operator', /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}<>=.:|,;]/y],
];
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const IDENTIFIER = /^[\p{ID_Start}_][\p{ID_Continue}]*$/u;

/** Throws TemplateSyntaxError. */
export function tokenize(template: string): Token[] {
  const source = template.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  /** Whether the last thing read ended a line, so that white space before a tag is the indentation of its line. */
  let startsLine = true;

  const fail = (message: string): never => {
    throw new TemplateSyntaxError(message, line);
  };
  function advance(to: number): void {
    for (let i = source.indexOf('\n', at); i >= 0 && i < to; i = source.indexOf('\n', i + 1)) line++;
    at = to;
  }
  const add = (type: TokenType, text: string): void => void tokens.push({ type, text, line });
  const skipSpaces = (): void => {
    SPACES.lastIndex = at;
    advance(at + SPACES.exec(source)![0].length);
  };

  /** Text before a tag, without what the tag's sign and lstrip_blocks remove from its end. */
  function cutText(text: string, sign: string, isOutput: boolean): string {
    if (sign === '-') return trimEnd(text);
    if (sign === '+' || isOutput) return text;
    const from = text.lastIndexOf('\n') + 1;
    return (from > 0 || startsLine) && isSpace(text.slice(from)) ? text.slice(0, from) : text;
  }
  function addText(text: string): void {
    if (text !== '') add('text', text);
  }
  /** After `%}` and `#}`: `-` removes white space, trim_blocks the line break, unless `+` keeps it. */
  function leaveBlock(sign: string): void {
    const from = at;
    if (sign === '-') skipSpaces();
    else if (sign === '' && source[at] === '\n') advance(at + 1);
    startsLine = at > from ? source[at - 1] === '\n' : false;
  }

  function readTag(end: '%}' | '}}'): void {
    const open: string[] = [];
    for (;;) {
      skipSpaces();
      if (at >= source.length) fail(`the tag is not closed: ${end} is missing`);
      if (open.length === 0) {
        const sign = source.startsWith(end, at + 1) && (source[at] === '-' || (source[at] === '+' && end === '%}'));
        if (sign || source.startsWith(end, at)) {
          const mark = sign ? source[at]! : '';
          add(end === '%}' ? 'end block' : 'end output', end);
          advance(at + mark.length + end.length);
          if (end === '%}') leaveBlock(mark);
          else {
            const from = at;
            if (mark === '-') skipSpaces();
            startsLine = at > from && source[at - 1] === '\n';
          }
          return;
        }
      }
      readToken(open);
    }
  }

  function readToken(open: string[]): void {
    for (const [type, pattern] of TOKENS) {
      pattern.lastIndex = at;
      const text = pattern.exec(source)?.[0];
      if (text === undefined) continue;
      if (type === 'name' && !IDENTIFIER.test(text)) fail(`${text} is not a name`);
      if (type === 'operator') {
        if (text in CLOSING) open.push(CLOSING[text]!);
        else if (')]}'.includes(text) && open.pop() !== text) fail(`unexpected ${text}`);
      }
      add(type, type === 'string' ? unescape(text.slice(1, -1), fail) : text);
      advance(at + text.length);
      return;
    }
    fail(`unexpected ${String.fromCodePoint(source.codePointAt(at)!)}`);
  }

  function readRaw(beginSign: string): void {
    if (beginSign === '-') skipSpaces();
    startsLine = at > 0 && source[at - 1] === '\n';
    RAW_END.lastIndex = at;
    const end = RAW_END.exec(source);
    if (!end) return fail('{% raw %} is not closed');
    addText(cutText(source.slice(at, end.index), end[1]!, false));
    advance(end.index + end[0].length);
    leaveBlock(end[2]!);
  }

  function readComment(): void {
    COMMENT_END.lastIndex = at;
    const end = COMMENT_END.exec(source);
    if (!end) return fail('the comment is not closed');
    advance(end.index + end[0].length);
    leaveBlock(end[1]!);
  }

  while (at < source.length) {
    const begin = /\{[{%#]/g;
    begin.lastIndex = at;
    const found = begin.exec(source);
    if (!found) {
      addText(source.slice(at));
      break;
    }
    const kind = found[0];
    const next = source[found.index + 2] ?? '';
    const sign = next === '-' || next === '+' ? next : '';
    addText(cutText(source.slice(at, found.index), sign, kind === '{{'));
    advance(found.index + 2 + sign.length);
    if (kind === '{#') readComment();
    else if (kind === '{{') {
      add('begin output', kind);
      readTag('}}');
    } else {
      RAW_BEGIN.lastIndex = at;
      const raw = RAW_BEGIN.exec(source);
      if (raw) {
        advance(at + raw[0].length);
        readRaw(raw[1]!);
      } else {
        add('begin block', kind);
        readTag('%}');
      }
    }
  }
  add('end', '');
  return tokens;
}

const SHORT: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** As Python's `unicode-escape` reads the text after its other characters were escaped too. */
function unescape(text: string, fail: (message: string) => never): string {
  if (!text.includes('\\')) return text;
  const ascii = text.replace(/[^\x00-\x7f]/gu, (character) => {
    const code = character.codePointAt(0)!;
    const [prefix, width] = code < 0x100 ? ['\\x', 2] : code < 0x10000 ? ['\\u', 4] : ['\\U', 8];
    return prefix + code.toString(16).padStart(width, '0');
  });
  return ascii.replace(
    /\\(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([^]))/g,
    (all, octal?: string, x?: string, u?: string, U?: string, other = '') => {
      if (octal !== undefined) return String.fromCodePoint(parseInt(octal, 8));
      const hex = x ?? u ?? U;
      if (hex !== undefined) return String.fromCodePoint(parseInt(hex, 16));
      if (/[xuUN]/.test(other as string)) fail(`the escape ${all} is not complete, or not supported`);
      return SHORT[other as string] ?? all;
    },
  );
}
