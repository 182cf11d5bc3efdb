// Converts Lark grammars (`start: "a" b`, `B: /[0-9]+/`) into GBNF and the expressions that its rules name, for clients that send
// Lark in a field meant for GBNF. What may be ignored (`%ignore WS`) may follow each terminal, as in XGrammar. What has no counterpart in GBNF (templates, other imports than of `common`) is refused.
import { AppError } from '#domain/errors';
import { literal } from './gbnf.ts';
import { COMMON_TERMINALS } from './lark-terminals.ts';
import { readPattern } from './lexemes/pattern-reader.ts';

const RULE = /^\s*[?!]*([A-Za-z_]\w*)(?:\.-?\d+)?\s*:(?!:=)(.*)$/;

export const isLark = (source: string): boolean =>
  !source.includes('::=') && source.split('\n').some((line) => RULE.test(line));

export interface Converted {
  readonly gbnf: string;
  /** Regular expressions by the names that refer to them. */
  readonly patterns: ReadonlyMap<string, string>;
}

interface Part {
  readonly line: number;
  /** In Lark. */
  readonly body: string;
}

/** Throws `invalid_constraint`. */
export function larkToGbnf(source: string): Converted {
  const patterns = new Map<string, string>();
  const rules: { readonly name: string; readonly parts: Part[] }[] = [];
  const imported: { readonly name: string; readonly body: string }[] = [];
  const ignored: Part[] = [];
  for (const [line, whole] of source.split('\n').entries()) {
    const text = whole.replace(/^\s*(?:\/\/|#).*$/, '').trim();
    if (text === '') continue;
    const rule = RULE.exec(text);
    if (rule) rules.push({ name: rule[1]!, parts: [{ line, body: rule[2]! }] });
    else if (text.startsWith('%ignore')) ignored.push({ line, body: text.slice('%ignore'.length) });
    else if (text.startsWith('%')) imported.push(...readImport(text.replace(/\s*(?:\/\/|#).*$/, ''), line, patterns));
    else if (rules.length > 0) rules.at(-1)!.parts.push({ line, body: text });
    else throw refusal(line, 'a rule (`name: …`) was expected');
  }
  if (!rules.some(({ name }) => name === 'start')) throw refusal(0, 'the rule `start` is missing');
  const written = (parts: readonly Part[], skip: string) =>
    parts.map(({ line, body }) => convert(body, line, skip, patterns)).join(' ');
  const skip = ignored.length > 0 ? IGNORED : '';
  const made = rules.map(({ name, parts }) => ({
    name: nameOf(name),
    body: written(parts, isTerminal(name) ? '' : skip),
  }));
  const spaces = { name: IGNORED, body: `(${ignored.map((part) => written([part], '')).join(' | ')})*` };
  const gbnf = [...made, ...imported, ...(skip === '' ? [] : [spaces])]
    .map(({ name, body }) => `${name} ::= ${body.trim() === '' ? '""' : body}`)
    .join('\n');
  return { gbnf, patterns };
}

/** Names in Lark contain no dot. */
const IGNORED = 'lark.ignored';

const nameOf = (name: string): string => (name === 'start' ? 'root' : name === 'root' ? 'root_' : name);

const isTerminal = (name: string): boolean => /^_*[A-Z]/.test(name);

/** `%import common.INT`, with or without `-> NAME`, or `%import common (INT, WS)`. */
function readImport(text: string, line: number, patterns: Map<string, string>) {
  const [, one, as, several] = /^%import\s+common\s*(?:\.\s*(\w+)(?:\s*->\s*(\w+))?|\(([\w\s,]*)\))$/.exec(text) ?? [];
  const names = several === undefined ? [one ?? ''] : several.split(',').map((name) => name.trim());
  return names.map((name) => {
    const pattern = COMMON_TERMINALS.get(name);
    if (pattern === undefined)
      throw refusal(line, `\`${text}\` is not supported: write the terminal itself (\`NAME: /…/\`)`);
    return { name: as ?? name, body: expression(pattern, '', line, patterns) };
  });
}

const TEXT = String.raw`"((?:\\.|[^"\\])*)"`;
const TOKEN = new RegExp(
  String.raw`\s+|${TEXT}\s*\.\.\s*${TEXT}|${TEXT}(i?)|\/((?:\\.|[^/\\])+)\/([a-z]*)|->\s*\w+|~\s*(\d+)(?:\s*\.\.\s*(\d+))?|([A-Za-z_]\w*)|[()|*+?]|(\[)|(\])|(?:\/\/|#).*$`,
  'y',
);

/** `skip`: the rule of what may follow each terminal; empty: nothing. */
function convert(body: string, line: number, skip: string, patterns: Map<string, string>): string {
  const followed = (terminal: string) => (skip === '' ? terminal : `(${terminal} ${skip})`);
  let converted = '';
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < body.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(body);
    if (!match) throw refusal(line, `\`${body.slice(at, at + 20)}\` is not valid`);
    const [token, first, last, text, anyCase, pattern, flags, from, to, name, open, close] = match;
    if (first !== undefined) converted += followed(range(unescape(first), unescape(last!), line));
    else if (text !== undefined) converted += followed(anyCase ? inAnyCase(unescape(text)) : literal(unescape(text)));
    else if (pattern !== undefined) converted += followed(expression(pattern, flags ?? '', line, patterns));
    else if (from !== undefined) converted += `{${from},${to ?? from}}`;
    else if (name !== undefined) converted += isTerminal(name) ? followed(nameOf(name)) : nameOf(name);
    else if (open) converted += '(';
    else if (close) converted += ')?';
    else if (!token.startsWith('->') && !token.startsWith('//') && !token.startsWith('#')) converted += token;
  }
  return converted;
}

/** `"a".."z"`: one character. */
function range(from: string, to: string, line: number): string {
  const codes = [from, to].map((text) => text.codePointAt(0) ?? 0);
  if (Array.from(from).length !== 1 || Array.from(to).length !== 1 || codes[0]! > codes[1]!)
    throw refusal(line, `"${from}".."${to}" is not a range of characters`);
  return `[${codes.map((code) => `\\U${code.toString(16).padStart(8, '0')}`).join('-')}]`;
}
function expression(pattern: string, flags: string, line: number, patterns: Map<string, string>): string {
  if (!/^[is]{0,2}$/.test(flags))
    throw refusal(line, `the flags \`${flags}\` of a regular expression are not supported`);
  const flagged = flags === '' ? pattern : `(?${flags}:${pattern})`;
  try {
    readPattern(flagged);
  } catch (error) {
    throw refusal(line, error instanceof Error ? error.message : String(error));
  }
  const name = `expression.${patterns.size}`; // names in Lark contain no dot
  patterns.set(name, flagged);
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
