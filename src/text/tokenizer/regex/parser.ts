// Regular expressions in Oniguruma's Ruby syntax, which is what tokenizer.json has. What cannot be done exactly is refused by name:
// back references, calls of groups, conditions, and a few escapes.
import { eat, nextPoint, readBrackets, readEscape, readShorthand, withCases, type Cursor } from './brackets.ts';
import { characterSet, oneOf, onlyCharacter, range } from './character-set.ts';
import { RegexError, type Assertion, type Node } from './syntax.ts';

interface Flags {
  readonly ignoreCase: boolean;
  /** Whether `.` matches line ends. */
  readonly dotAll: boolean;
}

const DEPTH_MAX = 100;

/** Throws RegexError. */
export function parseRegex(source: string): Node {
  const cursor: Cursor = { source, at: 0 };
  const node = readEither(cursor, { ignoreCase: false, dotAll: false }, 0);
  if (cursor.at < source.length) throw new RegexError('has a ) without (');
  return node;
}

function readEither(cursor: Cursor, flags: Flags, depth: number): Node {
  if (depth > DEPTH_MAX) throw new RegexError('is nested too deeply');
  const options = [readSequence(cursor, flags, depth)];
  while (eat(cursor, '|')) options.push(readSequence(cursor, flags, depth));
  return options.length === 1 ? options[0]! : { kind: 'either', options };
}

function readSequence(cursor: Cursor, flags: Flags, depth: number): Node {
  const parts: Node[] = [];
  let letters = ''; // that stand beside each other, for the characters that are two letters in another case
  while (cursor.at < cursor.source.length && !/[|)]/.test(cursor.source[cursor.at]!)) {
    const rest = readFlags(cursor, flags);
    if (rest) {
      parts.push(readEither(cursor, rest, depth + 1));
      break;
    }
    const begin = cursor.at;
    const atom = readAtom(cursor, flags, depth);
    if (!atom) continue;
    letters = /^[a-z]$/i.test(cursor.source.slice(begin, cursor.at)) ? letters + cursor.source[begin]! : '';
    if (flags.ignoreCase && /ss|ff|fi|fl|st/i.test(letters))
      throw new RegexError(`ignores the case of ${letters.slice(-2)}, which one character can stand for`);
    parts.push(readRepeats(cursor, atom));
  }
  return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
}

/** `(?i)` and the like change what follows in the group. */
function readFlags(cursor: Cursor, flags: Flags): Flags | null {
  const found = /^\(\?([a-z]*)(?:-([a-z]+))?\)/.exec(cursor.source.slice(cursor.at, cursor.at + 16));
  if (!found) return null;
  cursor.at += found[0].length;
  return changeFlags(flags, found[1]!, found[2] ?? '');
}

function changeFlags(flags: Flags, on: string, off: string): Flags {
  const unknown = /[^im]/.exec(on + off);
  if (unknown) throw new RegexError(`has the option ${unknown[0]}, which is not supported`);
  const change = (letter: string, before: boolean) => (on.includes(letter) || before) && !off.includes(letter);
  return { ignoreCase: change('i', flags.ignoreCase), dotAll: change('m', flags.dotAll) };
}

/** Null: a comment. */
function readAtom(cursor: Cursor, flags: Flags, depth: number): Node | null {
  if (eat(cursor, '(?#')) {
    cursor.at = cursor.source.indexOf(')', cursor.at) + 1 || cursor.source.length;
    return null;
  }
  if (eat(cursor, '(')) return readGroup(cursor, flags, depth);
  if (eat(cursor, '[')) return { kind: 'set', set: characterSet(readBrackets(cursor, flags.ignoreCase)) };
  if (eat(cursor, '.')) return { kind: 'set', set: characterSet((point) => flags.dotAll || point !== LINE_FEED) };
  if (eat(cursor, '^')) return { kind: 'assert', what: 'line start' };
  if (eat(cursor, '$')) return { kind: 'assert', what: 'line end' };
  if (eat(cursor, '\\')) return readBackslash(cursor, flags);
  if (/[*+?]/.test(cursor.source[cursor.at]!)) throw new RegexError('repeats nothing');
  return characterNode(nextPoint(cursor), flags);
}

const LINE_FEED = 10;

function characterNode(point: number, { ignoreCase }: Flags): Node {
  return { kind: 'set', set: ignoreCase ? characterSet(withCases(range(point, point))) : onlyCharacter(point) };
}

const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: 'text start',
  z: 'text end',
  Z: 'last line end',
  b: 'word edge',
  B: 'no edge',
};

function readBackslash(cursor: Cursor, flags: Flags): Node {
  const letter = cursor.source[cursor.at] ?? '';
  if (Object.hasOwn(ASSERTIONS, letter)) {
    cursor.at++;
    return { kind: 'assert', what: ASSERTIONS[letter]! };
  }
  if (eat(cursor, 'R')) return anyLineEnd();
  if (eat(cursor, 'O')) return { kind: 'set', set: characterSet(() => true) };
  if (eat(cursor, 'N')) return { kind: 'set', set: characterSet((point) => point !== LINE_FEED) };
  const shorthand = readShorthand(cursor);
  if (shorthand) return { kind: 'set', set: characterSet(shorthand) };
  return characterNode(readEscape(cursor), flags);
}

function anyLineEnd(): Node {
  const one = (...tests: ((point: number) => boolean)[]): Node => ({ kind: 'set', set: characterSet(oneOf(tests)) });
  const both: Node = { kind: 'sequence', parts: [one(range(13, 13)), one(range(10, 10))] };
  const options = [both, one(range(10, 13), range(0x85, 0x85), range(0x2028, 0x2029))];
  return { kind: 'atomic', part: { kind: 'either', options } };
}

function readGroup(cursor: Cursor, flags: Flags, depth: number): Node {
  const node = readGroupKind(cursor, flags, (inside) => readEither(cursor, inside, depth + 1));
  if (!eat(cursor, ')')) throw new RegexError('has a group that is never closed');
  return node;
}

function readGroupKind(cursor: Cursor, flags: Flags, inside: (flags: Flags) => Node): Node {
  if (!eat(cursor, '?')) return inside(flags);
  if (eat(cursor, ':')) return inside(flags);
  if (eat(cursor, '>')) return { kind: 'atomic', part: inside(flags) };
  if (eat(cursor, '=')) return { kind: 'look', part: inside(flags), behind: false, negative: false };
  if (eat(cursor, '!')) return { kind: 'look', part: inside(flags), behind: false, negative: true };
  if (eat(cursor, '<=')) return { kind: 'look', part: inside(flags), behind: true, negative: false };
  if (eat(cursor, '<!')) return { kind: 'look', part: inside(flags), behind: true, negative: true };
  const named = /^<[\p{L}_][\p{L}\p{N}_]*>/u.exec(cursor.source.slice(cursor.at));
  if (named) {
    cursor.at += named[0].length;
    return inside(flags);
  }
  const scoped = /^([a-z]*)(?:-([a-z]+))?:/.exec(cursor.source.slice(cursor.at));
  if (!scoped) throw new RegexError(`has (?${cursor.source.slice(cursor.at, cursor.at + 1)}, which is not supported`);
  cursor.at += scoped[0].length;
  return inside(changeFlags(flags, scoped[1]!, scoped[2] ?? ''));
}

function readRepeats(cursor: Cursor, atom: Node): Node {
  let part = atom;
  for (;;) {
    const count = readCount(cursor);
    if (!count) return part;
    const { min, max, braces } = count;
    if (max < min) throw new RegexError('has a count whose end is before its beginning');
    if (eat(cursor, '?')) {
      // {n}? is not lazy in Ruby: it may be absent.
      const once: Node = { kind: 'repeat', part, min, max, how: braces && min === max ? 'greedy' : 'lazy' };
      part = braces && min === max ? { kind: 'repeat', part: once, min: 0, max: 1, how: 'greedy' } : once;
    } else {
      // {n,m}+ is not possessive in Ruby: it is repeated.
      const how = !braces && eat(cursor, '+') ? 'possessive' : 'greedy';
      part = { kind: 'repeat', part, min, max, how };
    }
  }
}

function readCount(cursor: Cursor): { min: number; max: number; braces: boolean } | null {
  if (eat(cursor, '*')) return { min: 0, max: Infinity, braces: false };
  if (eat(cursor, '+')) return { min: 1, max: Infinity, braces: false };
  if (eat(cursor, '?')) return { min: 0, max: 1, braces: false };
  const found = /^\{(\d*)(?:(,)(\d*))?\}/.exec(cursor.source.slice(cursor.at, cursor.at + 24));
  if (!found || (found[1] === '' && (found[3] ?? '') === '')) return null;
  cursor.at += found[0].length;
  const min = Number(found[1]);
  if (found[2] === undefined) return { min, max: min, braces: true };
  return { min, max: found[3] === '' ? Infinity : Number(found[3]), braces: true };
}
