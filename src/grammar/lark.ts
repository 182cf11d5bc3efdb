// Converts Lark grammars (`start: "a" b`, `B: /[0-9]+/`) into GBNF and the expressions that its rules name, for clients that send
// Lark in a field meant for GBNF. Directives without a counterpart in GBNF (%ignore, %import, templates) are refused.
import { AppError } from '#domain/errors';
import { literal } from './gbnf.ts';
import { readPattern } from './lexemes/pattern-reader.ts';

const RULE = /^\s*[?!]*([A-Za-z_]\w*)(?:\.-?\d+)?\s*:(?!:=)(.*)$/;

export const isLark = (source: string): boolean =>
  !source.includes('::=') && source.split('\n').some((line) => RULE.test(line));

export interface Converted {
  readonly gbnf: string;
  /** Regular expressions by the names that refer to them. */
  readonly patterns: ReadonlyMap<string, string>;
}

/** Throws `invalid_constraint`. */
export function larkToGbnf(source: string): Converted {
  const patterns = new Map<string, string>();
  const rules: { name: string; body: string }[] = [];
  for (const [index, line] of source.split('\n').entries()) {
    const text = line.replace(/^\s*\/\/.*$/, '').trim();
    if (text === '') continue;
    if (text.startsWith('%')) throw refusal(index, `\`${text.split(/\s/)[0]}\` is not supported`);
    const rule = RULE.exec(text);
    if (rule) rules.push({ name: nameOf(rule[1]!), body: convert(rule[2]!, index, patterns) });
    else if (rules.length > 0) rules.at(-1)!.body += ` ${convert(text, index, patterns)}`;
    else throw refusal(index, 'a rule (`name: …`) was expected');
  }
  if (!rules.some(({ name }) => name === 'root')) throw refusal(0, 'the rule `start` is missing');
  const gbnf = rules.map(({ name, body }) => `${name} ::= ${body.trim() === '' ? '""' : body}`).join('\n');
  return { gbnf, patterns };
}

const nameOf = (name: string): string => (name === 'start' ? 'root' : name === 'root' ? 'root_' : name);

const TOKEN =
  /\s+|"((?:\\.|[^"\\])*)"(i?)|\/((?:\\.|[^/\\])+)\/([a-z]*)|->\s*\w+|~\s*(\d+)(?:\s*\.\.\s*(\d+))?|([A-Za-z_]\w*)|[()|*+?]|(\[)|(\])|\/\/.*$/y;

function convert(body: string, line: number, patterns: Map<string, string>): string {
  let converted = '';
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < body.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(body);
    if (!match) throw refusal(line, `\`${body.slice(at, at + 20)}\` is not valid`);
    const [token, text, anyCase, pattern, flags, from, to, name, open, close] = match;
    if (text !== undefined) converted += anyCase ? inAnyCase(unescape(text)) : literal(unescape(text));
    else if (pattern !== undefined) converted += expression(pattern, flags ?? '', line, patterns);
    else if (from !== undefined) converted += `{${from},${to ?? from}}`;
    else if (name !== undefined) converted += nameOf(name);
    else if (open) converted += '(';
    else if (close) converted += ')?';
    else if (!token.startsWith('->') && !token.startsWith('//')) converted += token;
  }
  return converted;
}

function expression(pattern: string, flags: string, line: number, patterns: Map<string, string>): string {
  if (flags !== '') throw refusal(line, `the flags \`${flags}\` of a regular expression are not supported`);
  try {
    readPattern(pattern);
  } catch (error) {
    throw refusal(line, error instanceof Error ? error.message : String(error));
  }
  const name = `expression.${patterns.size}`; // names in Lark contain no dot
  patterns.set(name, pattern);
  return name;
}

const inAnyCase = (text: string): string =>
  `(${Array.from(text, (c) => (c.toLowerCase() === c.toUpperCase() ? literal(c) : `(${literal(c.toLowerCase())} | ${literal(c.toUpperCase())})`)).join(' ')})`;

/** As in JSON; Lark knows the codes of bytes and of all characters, too, and takes other backslashes as they are. */
function unescape(text: string): string {
  const json = text.replace(
    /\\(?:x([\da-fA-F]{2})|U(00(?:0[\da-fA-F]|10)[\da-fA-F]{4})|["\\/bfnrtu]|)/g,
    (all, x?: string, U?: string) => {
      const code = x ?? U;
      if (code !== undefined) return JSON.stringify(String.fromCodePoint(parseInt(code, 16))).slice(1, -1);
      return all === '\\' ? '\\\\' : all;
    },
  );
  return JSON.parse(`"${json}"`) as string;
}

const refusal = (line: number, reason: string): AppError =>
  new AppError('invalid_constraint', `This Lark grammar cannot be used: in line ${line + 1}, ${reason}.`);
