// A regular expression's parts → a program for matcher.ts. Groups capture nothing: nothing here needs what they matched.
import { characterSet, oneOf, type CharacterSet } from './character-set.ts';
import { RegexError, type Assertion, type Node } from './syntax.ts';

export const OP = {
  match: 0,
  /** set: the next character is in it. */
  set: 1,
  /** to */
  jump: 2,
  /** to: go on here, and there if that fails. */
  split: 3,
  /** set, to: there, unless the next character is in the set. */
  guard: 4,
  /** set, min, max, way: as many as there are (1), as few as possible (2), or as many and never fewer (3). */
  loop: 5,
  /** assertion */
  assert: 6,
  /** negative, to: what follows must match, or must not, and takes no characters; then there. */
  look: 7,
  /** to: what follows matches as a whole, and is not tried again; then there. */
  atomic: 8,
  /** register: remembers the place. */
  enter: 9,
  /** register, to: there, if the place is the remembered one. */
  check: 10,
  /** characters: that many back. */
  back: 11,
} as const;

export const WAYS = { greedy: 1, lazy: 2, possessive: 3 } as const;
export const ASSERTIONS: readonly Assertion[] = [
  'line start',
  'line end',
  'text start',
  'text end',
  'last line end',
  'word edge',
  'no edge',
];

export interface Program {
  readonly code: Int32Array;
  readonly sets: readonly CharacterSet[];
  readonly registers: number;
  /** A match begins with one of these; null: it may begin anywhere. */
  readonly first: CharacterSet | null;
}

/** Counted repeats are written out. */
const CODE_MAX = 20_000;
/** Stands for "without end" in a program. */
export const ENDLESS = 0x7fffffff;

type Repeat = Extract<Node, { kind: 'repeat' }>;

/** Throws RegexError. */
export function compileRegex(root: Node): Program {
  const code: number[] = [];
  const sets: CharacterSet[] = [];
  let registers = 0;

  function emit(...words: number[]): number {
    if (code.length > CODE_MAX) throw new RegexError('repeats its parts too often');
    return code.push(...words) - 1; // where the last word is, for `here`
  }
  const here = (word: number): void => void (code[word] = code.length);
  const setIndex = (set: CharacterSet): number => sets.push(set) - 1;

  function write(node: Node): void {
    if (node.kind === 'set') emit(OP.set, setIndex(node.set));
    else if (node.kind === 'sequence') node.parts.forEach(write);
    else if (node.kind === 'either') writeEither(node.options);
    else if (node.kind === 'repeat') writeRepeat(node);
    else if (node.kind === 'assert') emit(OP.assert, ASSERTIONS.indexOf(node.what));
    else if (node.kind === 'atomic') writeInside(OP.atomic, [], () => write(node.part));
    else writeInside(OP.look, [node.negative ? 1 : 0], () => (node.behind ? writeBehind(node.part) : write(node.part)));
  }

  function writeInside(op: number, words: number[], writePart: () => void): void {
    const after = emit(op, ...words, 0);
    writePart();
    emit(OP.match);
    here(after);
  }

  /** What must lie before a place begins as many characters before it as it is long. */
  function writeBehind(part: Node): void {
    const options = (part.kind === 'either' ? part.options : [part]).map((option) => {
      const length = lengthOf(option);
      if (length === null) throw new RegexError('looks back at text of any length');
      return { guard: null, write: () => (emit(OP.back, length), write(option)) };
    });
    writeOptions(options);
  }

  const writeEither = (options: readonly Node[]): void =>
    writeOptions(options.map((option) => ({ guard: firstSet(option), write: () => write(option) })));

  function writeOptions(options: readonly { guard: CharacterSet | null; write: () => void }[]): void {
    const ends: number[] = [];
    for (const [i, { guard, write: writeOption }] of options.entries()) {
      const isLast = i === options.length - 1;
      const other = !isLast && guard ? emit(OP.guard, setIndex(guard), 0) : null;
      const next = isLast ? null : emit(OP.split, 0);
      writeOption();
      if (isLast) break;
      ends.push(emit(OP.jump, 0));
      if (other !== null) here(other);
      here(next!);
    }
    ends.forEach(here);
  }

  function writeRepeat({ part, min, max, how }: Repeat): void {
    const isBounded = how !== 'lazy' || max === Infinity;
    if (part.kind === 'set' && isBounded) {
      emit(OP.loop, setIndex(part.set), min, max === Infinity ? ENDLESS : max, WAYS[how]);
    } else if (how === 'possessive') {
      writeInside(OP.atomic, [], () => writeRepeat({ kind: 'repeat', part, min, max, how: 'greedy' }));
    } else {
      for (let i = 0; i < min; i++) write(part);
      if (max === Infinity) writeEndless(part, how);
      else writeOptional(part, max - min, how);
    }
  }

  function writeEndless(part: Node, how: 'greedy' | 'lazy'): void {
    const begin = code.length;
    const register = registers++;
    const leave = writeChoice(how);
    emit(OP.enter, register);
    write(part);
    const stuck = emit(OP.check, register, 0); // a round without characters is the last one
    emit(OP.jump, begin);
    here(stuck);
    here(leave);
  }

  function writeOptional(part: Node, count: number, how: 'greedy' | 'lazy'): void {
    const leaves: number[] = [];
    for (let i = 0; i < count; i++) {
      leaves.push(writeChoice(how));
      write(part);
    }
    leaves.forEach(here);
  }

  /** Returns the word that says where to go without another round. */
  function writeChoice(how: 'greedy' | 'lazy'): number {
    if (how === 'greedy') return emit(OP.split, 0);
    const enter = emit(OP.split, 0);
    const leave = emit(OP.jump, 0);
    here(enter);
    return leave;
  }

  write(root);
  emit(OP.match);
  return { code: Int32Array.from(code), sets, registers, first: firstSet(root) };
}

/** In characters; null: it has no fixed length. */
function lengthOf(node: Node): number | null {
  if (node.kind === 'set') return 1;
  if (node.kind === 'look' || node.kind === 'assert') return 0;
  if (node.kind === 'atomic') return lengthOf(node.part);
  if (node.kind === 'repeat') {
    const once = lengthOf(node.part);
    return once === null || node.min !== node.max ? null : once * node.min;
  }
  const lengths = (node.kind === 'either' ? node.options : node.parts).map(lengthOf);
  if (node.kind === 'either') return lengths.every((length) => length === lengths[0]) ? lengths[0]! : null;
  return lengths.reduce((sum, length) => (sum === null || length === null ? null : sum + length), 0);
}

interface First {
  readonly tests: ((point: number) => boolean)[];
  /** Whether it can match without a character. */
  readonly mayBeEmpty: boolean;
}

/** The characters with which a match begins; null: it may be empty. */
function firstSet(node: Node): CharacterSet | null {
  const { tests, mayBeEmpty } = firstOf(node);
  return mayBeEmpty ? null : characterSet(oneOf(tests));
}

function firstOf(node: Node): First {
  if (node.kind === 'set') return { tests: [node.set.has], mayBeEmpty: false };
  if (node.kind === 'look' || node.kind === 'assert') return { tests: [], mayBeEmpty: true };
  if (node.kind === 'atomic') return firstOf(node.part);
  if (node.kind === 'repeat') {
    const { tests, mayBeEmpty } = firstOf(node.part);
    return { tests, mayBeEmpty: mayBeEmpty || node.min === 0 };
  }
  if (node.kind === 'either') {
    const firsts = node.options.map(firstOf);
    return { tests: firsts.flatMap(({ tests }) => tests), mayBeEmpty: firsts.some(({ mayBeEmpty }) => mayBeEmpty) };
  }
  const tests: First['tests'] = [];
  for (const part of node.parts) {
    const first = firstOf(part);
    tests.push(...first.tests);
    if (!first.mayBeEmpty) return { tests, mayBeEmpty: false };
  }
  return { tests, mayBeEmpty: true };
}
