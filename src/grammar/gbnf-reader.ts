// Parses GBNF into trees of rules: `name ::= …` with literals, classes, names, groups, `|` and repetitions. Reads the syntax
// of XGrammar, without its macros and look-ahead.
import { complement, mergeRanges, type Range } from './gbnf.ts';

export type Expression =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'class'; readonly ranges: readonly Range[] }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'sequence'; readonly parts: readonly Expression[] }
  | { readonly kind: 'choice'; readonly options: readonly Expression[] }
  | { readonly kind: 'repeat'; readonly of: Expression; readonly min: number; readonly max: number | null };

export interface Rule {
  readonly name: string;
  readonly body: Expression;
}

const NAME = /[A-Za-z_][\w.-]*/y;
const SPACE = /(?:\s+|#[^\n]*)*/y;
const MACRO = 'TagDispatch(';
const DEPTH_MAX = 500; // of groups; deeper ones are made to break parsers

/** Throws Error with the reason. */
export function readGbnf(source: string): readonly Rule[] {
  const reader = createReader(source);
  const rules: Rule[] = [];
  while (!reader.done()) {
    const name = reader.match(NAME);
    if (name === null || !reader.take('::=')) throw reader.fault('a rule (`name ::= …`) was expected');
    rules.push({ name, body: choice(reader, 0) });
  }
  const names = new Set(rules.map((rule) => rule.name));
  if (!names.has('root')) throw new Error('the rule `root` is missing');
  if (names.size < rules.length) {
    const twice = rules.find(({ name }, i) => rules.findIndex((other) => other.name === name) < i);
    throw new Error(`the rule \`${twice!.name}\` is defined twice`);
  }
  return rules;
}

function createReader(source: string) {
  let at = 0;
  const skip = () => {
    SPACE.lastIndex = at;
    SPACE.exec(source);
    at = SPACE.lastIndex;
  };
  skip();
  return {
    done: () => at >= source.length,
    peek: (length = 1) => source.slice(at, at + length),
    /** The expression must be sticky. */
    match(expression: RegExp): string | null {
      expression.lastIndex = at;
      const found = expression.exec(source)?.[0] ?? null;
      if (found !== null) {
        at += found.length;
        skip();
      }
      return found;
    },
    take(text: string): boolean {
      if (!source.startsWith(text, at)) return false;
      at += text.length;
      skip();
      return true;
    },
    /** Characters inside quotes and brackets, where white space counts. */
    next(): string {
      if (at >= source.length) throw new Error('it ends within a literal or a class');
      const character = String.fromCodePoint(source.codePointAt(at)!);
      at += character.length;
      return character;
    },
    skip,
    /** Whether a rule starts at the current position. */
    atRule(): boolean {
      NAME.lastIndex = at;
      if (!NAME.test(source)) return false;
      SPACE.lastIndex = NAME.lastIndex;
      SPACE.exec(source);
      return source.startsWith('::=', SPACE.lastIndex);
    },
    fault: (reason: string) =>
      new Error(`${reason} in line ${source.slice(0, at).split('\n').length}, before \`${source.slice(at, at + 20)}\``),
  };
}
type Reader = ReturnType<typeof createReader>;

function choice(reader: Reader, depth: number): Expression {
  if (depth > DEPTH_MAX) throw new Error(`its groups are nested more than ${DEPTH_MAX} deep`);
  const options = [sequence(reader, depth)];
  while (reader.take('|')) options.push(sequence(reader, depth));
  if (options.length === 1 && options[0] === EMPTY) throw reader.fault('an expression is missing');
  return options.length === 1 ? options[0]! : { kind: 'choice', options };
}

/** The empty expression, as in `a ::= | "x"`. */
const EMPTY: Expression = { kind: 'literal', text: '' };

function sequence(reader: Reader, depth: number): Expression {
  const parts: Expression[] = [];
  while (!reader.done() && !['|', ')'].includes(reader.peek()) && !reader.atRule()) parts.push(repeated(reader, depth));
  if (parts.length === 0) return EMPTY;
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
}

function repeated(reader: Reader, depth: number): Expression {
  let what = atom(reader, depth);
  for (;;) {
    if (reader.take('*')) what = { kind: 'repeat', of: what, min: 0, max: null };
    else if (reader.take('+')) what = { kind: 'repeat', of: what, min: 1, max: null };
    else if (reader.take('?')) what = { kind: 'repeat', of: what, min: 0, max: 1 };
    else if (reader.peek() === '{') what = { kind: 'repeat', of: what, ...bounds(reader) };
    else return what;
  }
}

function bounds(reader: Reader): { min: number; max: number | null } {
  const text = reader.match(/\{[^}]*\}/y) ?? '';
  const [, from, comma, to] = /^\{\s*(\d+)\s*(,?)\s*(\d*)\s*\}$/.exec(text) ?? [];
  if (from === undefined) throw reader.fault(`\`${text}\` is not a valid repetition`);
  const max = to !== '' ? Number(to) : comma === '' ? Number(from) : null;
  if (max !== null && max < Number(from)) throw reader.fault(`the minimum of \`${text}\` is greater than its maximum`);
  return { min: Number(from), max };
}

function atom(reader: Reader, depth: number): Expression {
  if (reader.peek(2) === '(=') throw reader.fault('look-ahead is not supported');
  if (reader.take('(')) {
    const inside = choice(reader, depth + 1);
    if (!reader.take(')')) throw reader.fault('a `)` is missing');
    return inside;
  }
  if (reader.peek() === '"') return literal(reader);
  if (reader.peek() === '[') return characterClass(reader);
  if (reader.peek(MACRO.length) === MACRO) throw reader.fault(`\`${MACRO}…)\` is not supported`);
  const name = reader.match(NAME);
  if (name === null) throw reader.fault('a literal, class, group or rule name was expected');
  return { kind: 'name', name };
}

function literal(reader: Reader): Expression {
  reader.next();
  let text = '';
  for (let character = reader.next(); character !== '"'; character = reader.next()) {
    if (character === '\n') throw reader.fault('a literal is not closed');
    text += character === '\\' ? String.fromCodePoint(escape(reader)) : character;
  }
  reader.skip();
  return { kind: 'literal', text };
}

function characterClass(reader: Reader): Expression {
  reader.next();
  const ranges: Range[] = [];
  const negated = reader.peek() === '^';
  if (negated) reader.next();
  const member = () => {
    const character = reader.next();
    return character === '\\' ? escape(reader) : character.codePointAt(0)!;
  };
  while (reader.peek() !== ']') {
    const from = member();
    const isRange = reader.peek() === '-' && reader.peek(2) !== '-]';
    if (isRange) reader.next();
    const to = isRange ? member() : from;
    if (to < from) throw reader.fault('the start of a range in […] is greater than its end');
    ranges.push([from, to]);
  }
  reader.next();
  reader.skip();
  return { kind: 'class', ranges: negated ? complement(ranges) : mergeRanges(ranges) };
}

const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, b: 8, v: 11, a: 7, e: 27, '0': 0 };
const CODE_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

function escape(reader: Reader): number {
  const character = reader.next();
  const digits = CODE_DIGITS[character];
  if (digits === undefined) {
    if (/[A-Za-z1-9]/.test(character) && CONTROLS[character] === undefined)
      throw reader.fault(`\`\\${character}\` is not a valid escape`);
    return CONTROLS[character] ?? character.codePointAt(0)!;
  }
  const text = Array.from({ length: digits }, () => reader.next()).join('');
  const code = /^[0-9a-fA-F]+$/.test(text) ? parseInt(text, 16) : Infinity;
  if (code > 0x10ffff) throw reader.fault(`\`\\${character}${text}\` is not a character`);
  return code;
}
