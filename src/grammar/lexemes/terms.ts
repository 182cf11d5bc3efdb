// Regular languages over bytes as terms, closed under and, or, not, with counted repetition. A term is its own automaton: its
// derivative by a byte (Brzozowski, JACM 1964) is the language of what may follow. Equal terms are one object, so states are
// built only when they are reached. Counters are numbers in a term and are never unfolded. Knows bytes, not characters or JSON.
import {
  OutOfRoom,
  plainness,
  TooComplex,
  type ByteSet,
  type Shape,
  type Term,
  type Terms,
  type WordList,
} from './term.ts';

export { OutOfRoom, TooComplex, type Term, type Terms };

const SEARCH_MAX = 20_000; // states of one search for a word
const DEPTH_COUNTED = 100; // longer words are not counted

export function createTerms(sizeMax = 400_000): Terms {
  const known = new Map<string, Term>();
  let lastId = 0;
  let size = 0;
  let forgotten = 0;
  let lists = 0;
  let left = Infinity;
  let isCompiling = true;
  /** Bytes that no set distinguishes have the same representative. */
  let representative = new Uint8Array(256);
  let representatives: number[] = [0];

  function make(key: string, nullable: boolean, shape: Shape): Term {
    const found = known.get(key);
    if (found) return found;
    if (++size > sizeMax) throw new OutOfRoom('it has too many states');
    spend(1);
    const isPlain = plainness(shape);
    const term = {
      id: ++lastId,
      nullable,
      next: null,
      classes: null,
      isPlain,
      alive: isPlain ? shape.kind !== 'none' : null,
      ...shape,
    } as Term;
    known.set(key, term);
    return term;
  }

  function spend(units: number): void {
    left -= units;
    if (left < 0) throw new TooComplex('it takes too much work to compile');
  }

  const none = make('none', false, { kind: 'none' });
  const empty = make('empty', true, { kind: 'empty' });
  const all = make('all', true, { kind: 'not', of: none });

  function refine(has: (byte: number) => boolean): void {
    const next = new Uint8Array(256);
    const seen = new Map<number, number>();
    for (let byte = 0; byte < 256; byte++) {
      const key = representative[byte]! * 2 + (has(byte) ? 1 : 0);
      const first = seen.get(key);
      if (first === undefined) seen.set(key, byte);
      next[byte] = first ?? byte;
    }
    if (seen.size === representatives.length) return;
    representative = next;
    representatives = [...new Set(next)];
  }

  /** Word lists distinguish each of their bytes from all others. */
  const isolated = new Set<number>();
  function isolate(byte: number): void {
    if (isolated.has(byte)) return;
    isolated.add(byte);
    refine((other) => other === byte);
  }

  const runs = new Map<number, Term>();
  const setOf = (set: ByteSet): Term =>
    set.every((word) => word === 0) ? none : make(`b${set.join()}`, false, { kind: 'bytes', set });

  function bytes(from: number, to: number): Term {
    const known = runs.get(from * 256 + to);
    if (known) return known;
    const set = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let byte = from; byte <= to; byte++) set[byte >> 5] = set[byte >> 5]! | (1 << (byte & 31));
    refine((byte) => byte >= from && byte <= to);
    const made = setOf(set);
    runs.set(from * 256 + to, made);
    return made;
  }

  const wordsTerm = (words: WordList, from: number, to: number, depth: number): Term => {
    const isFirst = words.sorted[from]!.length === depth;
    if (isFirst && to === from + 1) return empty;
    return make(`w${words.id},${from},${to},${depth}`, isFirst, { kind: 'words', words, from, to, depth });
  };

  function wordList(texts: readonly Uint8Array[]): Term {
    if (texts.length === 0) return none;
    spend(texts.length * 2 + texts.reduce((sum, text) => sum + text.length, 0) / 16);
    const sorted = texts
      .toSorted((a, b) => Buffer.compare(a, b))
      .filter((text, i, list) => i === 0 || Buffer.compare(text, list[i - 1]!) !== 0);
    for (const text of sorted) for (const byte of text) isolate(byte);
    return wordsTerm({ id: ++lists, sorted }, 0, sorted.length, 0);
  }

  const single = new Map<string, Term>();
  function word(text: Uint8Array): Term {
    if (text.length === 0) return empty;
    const key = Buffer.from(text).toString('latin1');
    const found = single.get(key) ?? wordList([text]);
    single.set(key, found);
    return found;
  }

  function concat2(first: Term, rest: Term): Term {
    if (first === none || rest === none) return none;
    if (first === empty) return rest;
    if (rest === empty) return first;
    if (first.kind === 'concat') return concat2(first.first, concat2(first.rest, rest));
    return make(`c${first.id},${rest.id}`, first.nullable && rest.nullable, { kind: 'concat', first, rest });
  }

  const concat = (...parts: readonly Term[]): Term => parts.reduceRight((rest, part) => concat2(part, rest), empty);

  function or(given: readonly Term[]): Term {
    const parts = new Set<Term>();
    let set: number[] | null = null;
    const add = (term: Term): boolean => {
      if (term === all) return false;
      if (term.kind === 'or') return term.parts.every(add);
      if (term.kind === 'bytes') set = term.set.map((word, i) => word | (set?.[i] ?? 0));
      else if (term !== none) parts.add(term);
      return true;
    };
    if (!given.every(add)) return all;
    if (set !== null) parts.add(setOf(set));
    if (parts.has(empty) && [...parts].some((part) => part !== empty && part.nullable)) parts.delete(empty);
    if (parts.size < 2) return [...parts][0] ?? none;
    for (const part of parts) if (part.kind === 'not' && parts.has(part.of)) return all;
    spend(parts.size);
    const sorted = [...parts].sort((a, b) => a.id - b.id);
    const nullable = sorted.some((part) => part.nullable);
    return make(`o${sorted.map(({ id }) => id).join()}`, nullable, { kind: 'or', parts: sorted });
  }

  function and(given: readonly Term[]): Term {
    const parts = new Set<Term>();
    let set: number[] | null = null;
    const add = (term: Term): boolean => {
      if (term === none) return false;
      if (term.kind === 'and') return term.parts.every(add);
      if (term.kind === 'bytes') set = term.set.map((word, i) => word & (set?.[i] ?? -1));
      else if (term !== all) parts.add(term);
      return true;
    };
    if (!given.every(add)) return none;
    if (set !== null) {
      const both = setOf(set);
      if (both === none) return none;
      parts.add(both);
    }
    if (parts.has(empty)) return [...parts].every((part) => part.nullable) ? empty : none;
    if (parts.size < 2) return [...parts][0] ?? all;
    for (const part of parts) if (part.kind === 'not' && parts.has(part.of)) return none;
    spend(parts.size);
    const sorted = [...parts].sort((a, b) => a.id - b.id);
    const nullable = sorted.every((part) => part.nullable);
    return make(`a${sorted.map(({ id }) => id).join()}`, nullable, { kind: 'and', parts: sorted });
  }

  function not(of: Term): Term {
    if (of === none) return all;
    if (of.kind === 'not') return of.of;
    return make(`n${of.id}`, !of.nullable, { kind: 'not', of });
  }

  function repeat(of: Term, least: number, max: number): Term {
    const min = of.nullable ? 0 : least;
    if (max === 0 || of === empty) return empty;
    if (of === none) return min === 0 ? empty : none;
    if (min === 1 && max === 1) return of;
    if (of.kind === 'repeat' && of.min === 0 && of.max === Infinity && min === 0) return of;
    return make(`r${of.id},${min},${max}`, min === 0, { kind: 'repeat', of, min, max });
  }

  function derive(term: Term, byte: number): Term {
    const at = representative[byte]!;
    const next = (term.next ??= []);
    return (next[at] ??= derivative(term, at));
  }

  function derivative(term: Term, byte: number): Term {
    spend(1);
    switch (term.kind) {
      case 'none':
      case 'empty':
        return none;
      case 'bytes':
        return ((term.set[byte >> 5]! >>> (byte & 31)) & 1) === 1 ? empty : none;
      case 'concat': {
        const first = concat2(derive(term.first, byte), term.rest);
        return term.first.nullable ? or([first, derive(term.rest, byte)]) : first;
      }
      case 'or':
        return or(term.parts.map((part) => derive(part, byte)));
      case 'and':
        return and(term.parts.map((part) => derive(part, byte)));
      case 'not':
        return not(derive(term.of, byte));
      case 'repeat':
        return concat2(derive(term.of, byte), repeat(term.of, Math.max(0, term.min - 1), term.max - 1));
      case 'words': {
        const { words, depth } = term;
        const start = term.nullable ? term.from + 1 : term.from;
        const from = firstAt(words.sorted, start, term.to, depth, byte);
        const to = firstAt(words.sorted, from, term.to, depth, byte + 1);
        return from === to ? none : wordsTerm(words, from, to, depth + 1);
      }
      case 'multiple': {
        if (byte < 0x30 || byte > 0x39) return none;
        return multipleOf(term.step, (Math.max(0, term.remainder) * 10 + byte - 0x30) % term.step);
      }
    }
  }

  const multipleOf = (step: number, remainder: number): Term =>
    make(`m${step},${remainder}`, remainder === 0, { kind: 'multiple', step, remainder });

  function isAlive(term: Term): boolean {
    if (term.alive !== null) return term.alive;
    if (term.nullable) return (term.alive = true);
    switch (term.kind) {
      case 'none':
        return (term.alive = false);
      case 'concat':
        return (term.alive = isAlive(term.first) && isAlive(term.rest));
      case 'or':
        return (term.alive = term.parts.some(isAlive));
      case 'repeat':
        return (term.alive = isAlive(term.of));
      case 'and':
      case 'not':
        return search(term);
      case 'empty':
      case 'bytes':
      case 'words':
      case 'multiple':
        return (term.alive = true);
    }
  }

  /** Searches breadth first for the shortest word. The states on the way to it are alive; if there is none, all visited states are dead. */
  function search(start: Term): boolean {
    const before = new Map<Term, Term | null>([[start, null]]);
    const queue = [start];
    for (const term of queue) {
      for (const byte of representatives) {
        const next = derive(term, byte);
        if (next === none || next.alive === false || before.has(next)) continue;
        before.set(next, term);
        if (next.nullable || next.alive === true) {
          for (let at: Term | null = next; at !== null; at = before.get(at)!) at.alive = true;
          return true;
        }
        queue.push(next);
      }
      if (queue.length > SEARCH_MAX) return giveUp(start);
    }
    for (const term of queue) term.alive = false;
    return false;
  }

  /** While a text is written, an undecided term counts as empty: another way to continue is known. */
  function giveUp(start: Term): boolean {
    if (isCompiling) throw new TooComplex('it takes too much work to find out whether any text satisfies it');
    return (start.alive = false);
  }

  /** Level by level, so that an infinite branch does not hide many short words. */
  function count(start: Term, most: number): number {
    let level = new Map<Term, number>([[start, 1]]);
    let found = 0;
    for (let depth = 0; depth < DEPTH_COUNTED && level.size > 0 && found < most; depth++) {
      const deeper = new Map<Term, number>();
      for (const [at, ways] of level) {
        if (at.nullable) found += ways;
        for (let byte = 0; byte < 256; byte++) {
          const to = derive(at, byte);
          if (isAlive(to)) deeper.set(to, Math.min(most, (deeper.get(to) ?? 0) + ways));
        }
      }
      level = deeper;
      if (level.size > most) return most; // each leads to a different word
    }
    return Math.min(most, found);
  }

  return {
    none,
    empty,
    all,
    bytes,
    word: (text) => word(typeof text === 'string' ? Buffer.from(text) : text),
    words: (texts) =>
      texts.length === 1 ? word(Buffer.from(texts[0]!)) : wordList(texts.map((text) => Buffer.from(text))),
    multiple(step) {
      for (let digit = 0x30; digit <= 0x39; digit++) isolate(digit);
      return make(`m${step},-1`, false, { kind: 'multiple', step, remainder: -1 });
    },
    concat,
    or,
    and,
    not,
    repeat,
    optional: (of) => or([empty, of]),
    derive,
    isAlive,
    count,
    matches(term, text) {
      let at = term;
      for (const byte of text) {
        at = derive(at, byte);
        if (at === none) return false;
      }
      return at.nullable;
    },
    spend,
    allow(units, compiling) {
      left = units;
      isCompiling = compiling;
    },
    get left() {
      return left;
    },
    get size() {
      return size;
    },
    get forgotten() {
      return forgotten;
    },
    forget() {
      known.clear();
      single.clear();
      for (const [key, term] of [
        ['none', none],
        ['empty', empty],
        ['all', all],
      ] as const)
        known.set(key, term);
      size = 0;
      forgotten++;
    },
  };
}

/** The index of the first of `sorted[from … to)` whose byte at `depth` is at least `byte`. */
function firstAt(sorted: readonly Uint8Array[], from: number, to: number, depth: number, byte: number): number {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]![depth]! < byte) low = middle + 1;
    else high = middle;
  }
  return low;
}
