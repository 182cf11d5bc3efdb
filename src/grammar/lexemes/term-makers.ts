// Makes terms, each in one normal form: equal terms are one object, and what is trivially equal becomes the same term (`a | none` is
// `a`, a set of bytes is one term). Does not know what a term's derivatives are.
import type { ByteClasses } from './byte-classes.ts';
import { OutOfRoom, plainness, type ByteSet, type Shape, type Term, type WordList } from './term.ts';
import type { WorkBudget } from './work-budget.ts';

export class TermMakers {
  /** Terms made since the last `forget`. */
  size = 0;
  forgotten = 0;
  readonly none: Term;
  readonly empty: Term;
  /** The language of all words. */
  readonly all: Term;
  private readonly known = new Map<string, Term>();
  private readonly ranges = new Map<number, Term>();
  private readonly singleWords = new Map<string, Term>();
  private lastId = 0;
  private lists = 0;
  private readonly sizeMax: number;
  private readonly classes: ByteClasses;
  private readonly budget: WorkBudget;

  constructor(sizeMax: number, classes: ByteClasses, budget: WorkBudget) {
    this.sizeMax = sizeMax;
    this.classes = classes;
    this.budget = budget;
    this.none = this.make('none', false, { kind: 'none' });
    this.empty = this.make('empty', true, { kind: 'empty' });
    this.all = this.make('all', true, { kind: 'not', of: this.none });
  }

  bytes(from: number, to: number): Term {
    const known = this.ranges.get(from * 256 + to);
    if (known) return known;
    const set = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let byte = from; byte <= to; byte++) set[byte >> 5] = set[byte >> 5]! | (1 << (byte & 31));
    this.classes.refine((byte) => byte >= from && byte <= to);
    const made = this.setOf(set);
    this.ranges.set(from * 256 + to, made);
    return made;
  }

  word(text: Uint8Array): Term {
    if (text.length === 0) return this.empty;
    const key = Buffer.from(text).toString('latin1');
    const found = this.singleWords.get(key) ?? this.words([text]);
    this.singleWords.set(key, found);
    return found;
  }

  words(texts: readonly Uint8Array[]): Term {
    if (texts.length === 0) return this.none;
    this.budget.spend(texts.length * 2 + texts.reduce((sum, text) => sum + text.length, 0) / 16);
    const sorted = texts
      .toSorted((a, b) => Buffer.compare(a, b))
      .filter((text, i, list) => i === 0 || Buffer.compare(text, list[i - 1]!) !== 0);
    for (const text of sorted) for (const byte of text) this.classes.isolate(byte);
    return this.wordsBehind({ id: ++this.lists, sorted }, 0, sorted.length, 0);
  }

  /** The words `words[from … to)` without their first `depth` bytes. */
  wordsBehind(words: WordList, from: number, to: number, depth: number): Term {
    const isFirst = words.sorted[from]!.length === depth;
    if (isFirst && to === from + 1) return this.empty;
    return this.make(`w${words.id},${from},${to},${depth}`, isFirst, { kind: 'words', words, from, to, depth });
  }

  /** Decimal numbers that `step` divides. */
  multiple(step: number): Term {
    for (let digit = 0x30; digit <= 0x39; digit++) this.classes.isolate(digit);
    return this.make(`m${step},-1`, false, { kind: 'multiple', step, remainder: -1 });
  }

  /** Digits that complete a multiple of `step` behind digits that left this remainder. */
  multipleBehind(step: number, remainder: number): Term {
    return this.make(`m${step},${remainder}`, remainder === 0, { kind: 'multiple', step, remainder });
  }

  concat(first: Term, rest: Term): Term {
    if (first === this.none || rest === this.none) return this.none;
    if (first === this.empty) return rest;
    if (rest === this.empty) return first;
    if (first.kind === 'concat') return this.concat(first.first, this.concat(first.rest, rest));
    return this.make(`c${first.id},${rest.id}`, first.nullable && rest.nullable, { kind: 'concat', first, rest });
  }

  or(given: readonly Term[]): Term {
    const { none, empty, all } = this;
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
    if (set !== null) parts.add(this.setOf(set));
    if (parts.has(empty) && [...parts].some((part) => part !== empty && part.nullable)) parts.delete(empty);
    if (parts.size < 2) return [...parts][0] ?? none;
    for (const part of parts) if (part.kind === 'not' && parts.has(part.of)) return all;
    this.budget.spend(parts.size);
    const sorted = [...parts].sort((a, b) => a.id - b.id);
    const nullable = sorted.some((part) => part.nullable);
    return this.make(`o${sorted.map(({ id }) => id).join()}`, nullable, { kind: 'or', parts: sorted });
  }

  and(given: readonly Term[]): Term {
    const { none, empty, all } = this;
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
      const both = this.setOf(set);
      if (both === none) return none;
      parts.add(both);
    }
    if (parts.has(empty)) return [...parts].every((part) => part.nullable) ? empty : none;
    if (parts.size < 2) return [...parts][0] ?? all;
    for (const part of parts) if (part.kind === 'not' && parts.has(part.of)) return none;
    this.budget.spend(parts.size);
    const sorted = [...parts].sort((a, b) => a.id - b.id);
    const nullable = sorted.every((part) => part.nullable);
    return this.make(`a${sorted.map(({ id }) => id).join()}`, nullable, { kind: 'and', parts: sorted });
  }

  not(of: Term): Term {
    if (of === this.none) return this.all;
    if (of.kind === 'not') return of.of;
    return this.make(`n${of.id}`, !of.nullable, { kind: 'not', of });
  }

  repeat(of: Term, least: number, max: number): Term {
    const min = of.nullable ? 0 : least;
    if (max === 0 || of === this.empty) return this.empty;
    if (of === this.none) return min === 0 ? this.empty : this.none;
    if (min === 1 && max === 1) return of;
    if (of.kind === 'repeat' && of.min === 0 && of.max === Infinity && min === 0) return of;
    return this.make(`r${of.id},${min},${max}`, min === 0, { kind: 'repeat', of, min, max });
  }

  /** Makes room. Terms in use stay valid: equal ones that are made again later only repeat work. */
  forget(): void {
    this.known.clear();
    this.singleWords.clear();
    this.known.set('none', this.none).set('empty', this.empty).set('all', this.all);
    this.size = 0;
    this.forgotten++;
  }

  private setOf(set: ByteSet): Term {
    if (set.every((word) => word === 0)) return this.none;
    return this.make(`b${set.join()}`, false, { kind: 'bytes', set });
  }

  private make(key: string, nullable: boolean, shape: Shape): Term {
    const found = this.known.get(key);
    if (found) return found;
    if (++this.size > this.sizeMax) throw new OutOfRoom('it has too many states');
    this.budget.spend(1);
    const isPlain = plainness(shape);
    const term = {
      id: ++this.lastId,
      nullable,
      next: null,
      classes: null,
      isPlain,
      alive: isPlain ? shape.kind !== 'none' : null,
      ...shape,
    } as Term;
    this.known.set(key, term);
    return term;
  }
}
