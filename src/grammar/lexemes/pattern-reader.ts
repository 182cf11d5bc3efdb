// Parses an ECMA-262 regular expression into a tree. Also reads what clients of Python and Rust write and ECMA-262 has not: `(?P<name>…)`,
// and `(?i)` or `(?s)` at the beginning. Refuses constructs that are not regular, or that these read as something else, and names them.
import { complement, mergeRanges, type Range } from '../gbnf.ts';
import { inAnyCase } from './letter-cases.ts';

export type Node =
  | { readonly kind: 'class'; readonly ranges: readonly Range[] }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly of: Node; readonly min: number; readonly max: number }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'ahead'; readonly of: Node; readonly negative: boolean };

const DEPTH_MAX = 200; // of groups; deeper ones are made to break parsers
const REPEAT_MAX = 2 ** 31;
const BOUNDS_LENGTH = 24;

/** Throws Error with the reason. */
export function readPattern(pattern: string): Node {
  const characters = Array.from(pattern);
  let at = 0;
  /** Whether letters match in any case, and `.` the ends of lines. */
  let flags = { anyCase: false, dotAll: false };
  let hasEmptyClass = false; // in other dialects, `[]…]` and `[^]…]` are classes with a bracket
  const peek = (offset = 0) => characters[at + offset] ?? '';
  const next = () => {
    if (at >= characters.length) throw new Error('the pattern is incomplete');
    return characters[at++]!;
  };
  const take = (text: string) => {
    const matches = Array.from(text).every((character, i) => characters[at + i] === character);
    if (matches) at += Array.from(text).length;
    return matches;
  };

  function choice(depth: number): Node {
    if (depth > DEPTH_MAX) throw new Error(`its groups are nested more than ${DEPTH_MAX} deep`);
    const options = [sequence(depth)];
    while (take('|')) options.push(sequence(depth));
    return options.length === 1 ? options[0]! : { kind: 'choice', parts: options };
  }

  function sequence(depth: number): Node {
    const parts: Node[] = [];
    while (at < characters.length && peek() !== '|' && peek() !== ')') parts.push(quantified(depth));
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
  }

  function quantified(depth: number): Node {
    const of = atom(depth);
    let times: { min: number; max: number };
    if (take('*')) times = { min: 0, max: Infinity };
    else if (take('+')) times = { min: 1, max: Infinity };
    else if (take('?')) times = { min: 0, max: 1 };
    else if (peek() === '{' && /\d/.test(peek(1))) times = bounds();
    else return of;
    take('?'); // lazy and greedy quantifiers match the same texts
    return { kind: 'repeat', of, ...times };
  }

  function bounds(): { min: number; max: number } {
    next();
    let text = '';
    while (peek() !== '}') text += next();
    next();
    const [, from, comma, to] = /^(\d+)(,?)(\d*)$/.exec(text) ?? [];
    if (from === undefined) throw new Error(`{${text}} is not a valid quantifier`);
    const min = Number(from);
    const max = to !== '' ? Number(to) : comma === '' ? min : Infinity;
    if (max < min) throw new Error(`the minimum of {${text}} is greater than its maximum`);
    if (min > REPEAT_MAX || (max !== Infinity && max > REPEAT_MAX))
      throw new Error(`{${text}} is over the limit of ${REPEAT_MAX} repetitions`);
    return { min, max };
  }

  function atom(depth: number): Node {
    const character = next();
    if (character === '(') return group(depth);
    if (character === '[') return { kind: 'class', ranges: readClass() };
    if (character === '.') return { kind: 'class', ranges: flags.dotAll ? ANY : NOT_LINE_END };
    if (character === '^') return { kind: 'start' };
    if (character === '$') return { kind: 'end' };
    if (character === '\\') {
      const ranges = readEscape(false);
      return { kind: 'class', ranges: isOne(ranges) ? cases(ranges) : ranges };
    }
    if ('*+?'.includes(character)) throw new Error(`\`${character}\` has nothing to repeat`);
    if (character === '{' && isBounds())
      throw new Error('`{` repeats nothing here: write `{0,n}` for `{,n}`, and `\\{` for the character');
    if (character === ']' && hasEmptyClass) throw new Error('`]` at the beginning of […] must be written `\\]`');
    return { kind: 'class', ranges: cases([single(character)]) };
  }

  const cases = (ranges: readonly Range[]) => (flags.anyCase ? inAnyCase(ranges) : ranges);

  /** After `{`: what would be a quantifier, in other dialects also without a minimum; here it would be a text. */
  const isBounds = (): boolean => /^(?=[^}])\d*,?\d*\}/.test(characters.slice(at, at + BOUNDS_LENGTH).join(''));

  function group(depth: number): Node {
    let ahead: boolean | null = null;
    const outside = flags;
    if (take('?')) {
      const set = readFlags(':');
      if (set) flags = set;
      else if (take('=')) ahead = false;
      else if (take('!')) ahead = true;
      else if ((take('P<') || take('<')) && peek() !== '=' && peek() !== '!') while (next() !== '>');
      else if (!take(':')) throw new Error(`(?${peek()}…) is not supported`);
    }
    const of = choice(depth + 1);
    if (!take(')')) throw new Error('a group is not closed');
    flags = outside;
    return ahead === null ? of : { kind: 'ahead', of, negative: ahead };
  }

  /** `i` and `s` before this character; null: others. */
  function readFlags(end: string): typeof flags | null {
    const text = new RegExp(`^([is]{1,2})\\${end}`).exec(characters.slice(at, at + 3).join(''))?.[1];
    if (text === undefined) return null;
    at += text.length + 1;
    return { anyCase: flags.anyCase || text.includes('i'), dotAll: flags.dotAll || text.includes('s') };
  }

  function readClass(): readonly Range[] {
    const negated = take('^');
    const ranges: Range[] = [];
    hasEmptyClass ||= peek() === ']';
    while (peek() !== ']') {
      const odd = /^(?:\[:\^?[a-z]+:\]|&&\[)/.exec(characters.slice(at, at + CLASS_NAME_LENGTH).join(''))?.[0];
      if (odd !== undefined)
        throw new Error(`\`${odd}\` in […] is not supported: write out the characters, or \`\\p{…}\``);
      const from = readMember();
      if (peek() === '-' && peek(1) !== ']' && from.length === 1 && from[0]![0] === from[0]![1]) {
        next();
        const to = readMember();
        if (to.length === 1 && to[0]![0] === to[0]![1]) {
          if (to[0]![0] < from[0]![0]) throw new Error('the start of a range in […] is greater than its end');
          ranges.push(...cases([[from[0]![0], to[0]![1]]]));
        } else ranges.push(...from, ...to, [0x2d, 0x2d]);
      } else ranges.push(...(isOne(from) ? cases(from) : from));
    }
    next();
    return negated ? complement(ranges) : mergeRanges(ranges);
  }

  function readMember(): readonly Range[] {
    if (take('\\')) return peek() === 'b' ? (next(), [[8, 8]]) : readEscape(true);
    return [single(next())];
  }

  function readEscape(inClass: boolean): readonly Range[] {
    const character = next();
    const set = SETS[character];
    if (set) return set;
    const control = CONTROLS[character];
    if (control !== undefined) return [[control, control]];
    if (character === 'c' && /[A-Za-z]/.test(peek())) {
      const code = next().charCodeAt(0) & 31;
      return [[code, code]];
    }
    if (character === 'x') return [hex(2)];
    if (character === 'u') return [unicode()];
    if (character === 'p' || character === 'P') return property(character === 'P');
    if (/[A-Za-z1-9]/.test(character) && !(inClass && character === '-'))
      throw new Error(`\`\\${character}\` is not supported`);
    return [single(character)];
  }

  function unicode(): Range {
    if (take('{')) {
      let text = '';
      while (peek() !== '}') text += next();
      next();
      const code = parseInt(text, 16);
      if (!/^[0-9a-fA-F]+$/.test(text) || code > 0x10ffff) throw new Error(`\\u{${text}} is not a character`);
      return [code, code];
    }
    const [high] = hex(4);
    if (high < 0xd800 || high > 0xdbff || peek() !== '\\' || peek(1) !== 'u') return [high, high];
    const back = at;
    at += 2;
    const [low] = hex(4);
    if (low < 0xdc00 || low > 0xdfff) return ((at = back), [high, high]);
    const code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    return [code, code];
  }

  function hex(digits: number): Range {
    const text = Array.from({ length: digits }, next).join('');
    const code = parseInt(text, 16);
    if (!/^[0-9a-fA-F]+$/.test(text)) throw new Error(`\\${digits === 2 ? 'x' : 'u'}${text} is not a character`);
    return [code, code];
  }

  function property(negated: boolean): readonly Range[] {
    if (!take('{')) throw new Error('`\\p` needs the name of a property in {…}');
    let name = '';
    while (peek() !== '}') name += next();
    next();
    const ranges = unicodeProperty(name);
    return negated ? complement(ranges) : ranges;
  }

  const leading = take('(?') ? readFlags(')') : null;
  if (leading) flags = leading;
  else at = 0;
  const node = choice(0);
  if (at < characters.length) throw new Error(`\`${peek()}\` at character ${at} of the pattern was not expected`);
  return node;
}

/** A character, and not a set of them. */
const isOne = (ranges: readonly Range[]): boolean => ranges.length === 1 && ranges[0]![0] === ranges[0]![1];

const single = (character: string): Range => [character.codePointAt(0)!, character.codePointAt(0)!];

/** In order, without surrogates. */
function allCharacters(): string {
  const parts: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 0x400)
    if (code < 0xd800 || code > 0xdfff)
      parts.push(String.fromCodePoint(...Array.from({ length: 0x400 }, (_, i) => code + i)));
  return parts.join('');
}

const properties = new Map<string, readonly Range[]>();

/** The characters of a Unicode property, according to the JavaScript engine. */
function unicodeProperty(name: string): readonly Range[] {
  const known = properties.get(name);
  if (known) return known;
  let expression: RegExp;
  try {
    expression = new RegExp(`\\p{${name}}+`, 'gu');
  } catch {
    throw new Error(`\\p{${name}} is not a Unicode property`);
  }
  const ranges: Range[] = [];
  for (const { 0: run } of allCharacters().matchAll(expression)) {
    const codes = Array.from(run, (character) => character.codePointAt(0)!);
    ranges.push([codes[0]!, codes.at(-1)!]); // neighbours in the list; only surrogates lie between them, which are not characters
  }
  properties.set(name, ranges);
  return ranges;
}

/** `[:alpha:]` and similar names. */
const CLASS_NAME_LENGTH = 16;

const ANY = complement([]);
const NOT_LINE_END = complement([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]);
const DIGIT: readonly Range[] = [[0x30, 0x39]];
const WORD: readonly Range[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const SPACE: readonly Range[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const SETS: Readonly<Record<string, readonly Range[]>> = {
  d: DIGIT,
  D: complement(DIGIT),
  w: WORD,
  W: complement(WORD),
  s: SPACE,
  S: complement(SPACE),
};
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, 0: 0 };
