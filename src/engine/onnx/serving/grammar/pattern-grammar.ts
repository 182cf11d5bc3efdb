// A regular expression of ECMA-262 → a grammar of the JSON strings that match it: quotes, backslashes and control characters
// appear in their escaped form. What a grammar cannot express (look-around, back references) is refused by name.
import {
  alternatives,
  complement,
  LAST_CODE,
  literal,
  mergeRanges,
  NOT_IN_JSON,
  NOT_IN_TEXT,
  oneOf,
  type Range,
} from './gbnf.ts';

/** Where the text stands: between the quotes of a JSON string, or as it is. */
export type TextForm = 'json' | 'plain';

/** Any character of a JSON string; escapes by number are left out, as every character can be written without them. */
export const JSON_CHARACTER = `(${oneOf(complement(NOT_IN_JSON))} | "\\\\" ["\\\\/bfnrt])`;

/** Throws Error with the reason. */
export function patternGrammar(pattern: string, form: TextForm): string {
  const reader = createReader(pattern);
  const any = form === 'json' ? `${JSON_CHARACTER}*` : `${setOf(ANY, 'plain')}*`;
  const read = () => {
    const anchoredStart = reader.take('^');
    const parts = sequence(reader, form);
    const anchoredEnd = reader.take('$');
    return [anchoredStart ? '' : any, ...parts, anchoredEnd ? '' : any].filter((part) => part !== '').join(' ') || '""';
  };
  const options = [read()];
  while (reader.take('|')) options.push(read());
  if (!reader.done()) throw new Error(`\`${reader.peek()}\` at ${reader.at()} of the pattern cannot be read`);
  return alternatives(options);
}

function createReader(pattern: string) {
  const characters = Array.from(pattern);
  let at = 0;
  return {
    at: () => at,
    done: () => at >= characters.length,
    peek: (offset = 0) => characters[at + offset] ?? '',
    next() {
      if (at >= characters.length) throw new Error('the pattern ends too early');
      return characters[at++]!;
    },
    take(text: string) {
      const matches = Array.from(text).every((character, i) => characters[at + i] === character);
      if (matches) at += Array.from(text).length;
      return matches;
    },
  };
}
type Reader = ReturnType<typeof createReader>;

function sequence(reader: Reader, form: TextForm): string[] {
  const parts: string[] = [];
  while (!reader.done() && !['|', ')', '$'].includes(reader.peek())) parts.push(quantified(reader, form));
  return parts;
}

const REPEAT_MAX = 1_000; // a grammar is written out

function quantified(reader: Reader, form: TextForm): string {
  const what = atom(reader, form);
  let times: string;
  if (reader.take('*')) times = '*';
  else if (reader.take('+')) times = '+';
  else if (reader.take('?')) times = '?';
  else if (reader.peek() === '{' && /\d/.test(reader.peek(1))) times = bounds(reader);
  else return what;
  reader.take('?'); // lazy or greedy: the language is the same
  return `${what}${times}`;
}

function bounds(reader: Reader): string {
  reader.next();
  let text = '';
  while (reader.peek() !== '}') text += reader.next();
  reader.next();
  const [, from, comma, to] = /^(\d+)(,?)(\d*)$/.exec(text) ?? [];
  if (from === undefined) throw new Error(`{${text}} is no quantifier`);
  if (Number(from) > REPEAT_MAX || Number(to) > REPEAT_MAX) throw new Error(`{${text}} is more than ${REPEAT_MAX}`);
  return `{${from}${comma}${to}}`;
}

function atom(reader: Reader, form: TextForm): string {
  const character = reader.next();
  if (character === '(') return group(reader, form);
  if (character === '[') return setOf(readClass(reader), form);
  if (character === '.') return setOf(complement([[0x0a, 0x0a], [0x0d, 0x0d], [0x2028, 0x2029]]), form); // prettier-ignore
  if (character === '\\') return setOf(readEscape(reader), form);
  if ('^$*+?'.includes(character)) throw new Error(`\`${character}\` cannot be used inside the pattern`);
  return setOf([single(character)], form);
}

function group(reader: Reader, form: TextForm): string {
  if (reader.take('?')) {
    if (reader.take('<') && reader.peek() !== '=' && reader.peek() !== '!') while (reader.next() !== '>');
    else if (!reader.take(':')) throw new Error(`(?${reader.peek()}…) cannot be expressed`);
  }
  const options = [sequence(reader, form)];
  while (reader.take('|')) options.push(sequence(reader, form));
  if (!reader.take(')')) throw new Error('a group is not closed, or has `$` inside');
  return alternatives(options.map((parts) => parts.join(' ') || '""'));
}

const ANY: readonly Range[] = [[0, LAST_CODE]];
const DIGIT: readonly Range[] = [[0x30, 0x39]];
const WORD: readonly Range[] = [[0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]]; // prettier-ignore
const SPACE: readonly Range[] = [[0x09, 0x0d], [0x20, 0x20], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f], [0x205f, 0x205f], [0x3000, 0x3000], [0xfeff, 0xfeff]]; // prettier-ignore

const single = (character: string): Range => [character.codePointAt(0)!, character.codePointAt(0)!];
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };

function readEscape(reader: Reader): readonly Range[] {
  const character = reader.next();
  const sets: Readonly<Record<string, readonly Range[]>> = {
    d: DIGIT, D: complement(DIGIT), w: WORD, W: complement(WORD), s: SPACE, S: complement(SPACE),
  }; // prettier-ignore
  if (sets[character]) return sets[character];
  const control = CONTROLS[character];
  if (control !== undefined) return [[control, control]];
  if (character === 'x') return [hex(reader, 2)];
  if (character === 'u') return [hex(reader, 4)];
  if (/[A-Za-z1-9]/.test(character)) throw new Error(`\`\\${character}\` cannot be expressed`);
  return [single(character)];
}

function hex(reader: Reader, digits: number): Range {
  const text = Array.from({ length: digits }, () => reader.next()).join('');
  const code = parseInt(text, 16);
  if (!/^[0-9a-fA-F]+$/.test(text)) throw new Error(`\\${digits === 2 ? 'x' : 'u'}${text} is no character`);
  return [code, code];
}

function readClass(reader: Reader): readonly Range[] {
  const negated = reader.take('^');
  const ranges: Range[] = [];
  while (reader.peek() !== ']') {
    const from = readMember(reader);
    if (reader.peek() === '-' && reader.peek(1) !== ']' && from.length === 1 && from[0]![0] === from[0]![1]) {
      reader.next();
      const to = readMember(reader);
      if (to.length !== 1 || to[0]![0] < from[0]![0]) throw new Error('a range in […] runs backwards');
      ranges.push([from[0]![0], to[0]![1]]);
    } else ranges.push(...from);
  }
  reader.next();
  return negated ? complement(ranges) : mergeRanges(ranges);
}

function readMember(reader: Reader): readonly Range[] {
  if (reader.take('\\')) return reader.peek() === 'b' ? (reader.next(), [[8, 8]]) : readEscape(reader);
  return [single(reader.next())];
}

/** What JSON writes behind a backslash. */
const ESCAPES: readonly (readonly [code: number, letter: string])[] = [
  [0x22, '"'], [0x5c, '\\'], [0x08, 'b'], [0x0c, 'f'], [0x0a, 'n'], [0x0d, 'r'], [0x09, 't'],
]; // prettier-ignore

/** Another character class; in JSON, with the escapes that it needs. */
function setOf(ranges: readonly Range[], form: TextForm): string {
  const outside = complement(ranges);
  const plain = complement([...outside, ...(form === 'json' ? NOT_IN_JSON : NOT_IN_TEXT)]);
  const has = (code: number) => ranges.some(([from, to]) => from <= code && code <= to);
  const escapes = form === 'json' ? ESCAPES.filter(([code]) => has(code)).map(([, letter]) => literal(`\\${letter}`)) : []; // prettier-ignore
  const written = oneOf(plain);
  const parts = [...(written === null ? [] : [written]), ...escapes];
  if (parts.length === 0) throw new Error('a class of characters is empty, or has only control characters');
  return parts.length === 1 ? parts[0]! : alternatives(parts);
}
