// The types of terms, for the code that makes and uses them; term-makers.ts makes them.

/** What follows any character of a class. `isWhole`: no word of the term ends within the bytes of such a character. */
export interface ByClass {
  readonly next: Term;
  readonly isWhole: boolean;
}

export type Term = {
  readonly id: number;
  readonly nullable: boolean;
  /** Derivatives by byte class, as far as they were computed. */
  next: (Term | undefined)[] | null;
  /** Derivatives by class of characters (masks/class-derivatives.ts), as far as computed; null: they differ within the class. */
  classes: (ByClass | null | undefined)[] | null;
  /** Contains no `and` or `not`: its language is empty only if it is `none`. */
  readonly isPlain: boolean;
  /** Whether the language contains a word; null: not yet known. */
  alive: boolean | null;
} & Shape;

export type Shape =
  | { readonly kind: 'none' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly set: ByteSet }
  | { readonly kind: 'concat'; readonly first: Term; readonly rest: Term }
  | { readonly kind: 'or' | 'and'; readonly parts: readonly Term[] }
  | { readonly kind: 'not'; readonly of: Term }
  | { readonly kind: 'repeat'; readonly of: Term; readonly min: number; readonly max: number }
  /** The words `words[from … to)`, sorted, without their first `depth` bytes, which are equal. */
  | {
      readonly kind: 'words';
      readonly words: WordList;
      readonly from: number;
      readonly to: number;
      readonly depth: number;
    }
  /** Decimal digits that complete a multiple of `step` after digits that left this remainder; -1: no digits yet. */
  | { readonly kind: 'multiple'; readonly step: number; readonly remainder: number };

/** One bit per byte. */
export type ByteSet = readonly number[];

export interface WordList {
  readonly id: number;
  readonly sorted: readonly Uint8Array[];
}

/** Thrown when a grammar takes too much work. Work is counted in terms made and derivatives taken. */
export class TooComplex extends Error {}

/** Thrown when the memory shared by all texts is full: what is not in use can be forgotten. */
export class OutOfRoom extends TooComplex {}

export interface Terms {
  readonly none: Term;
  readonly empty: Term;
  /** The language of all words. */
  readonly all: Term;
  bytes(from: number, to: number): Term;
  word(text: string | Uint8Array): Term;
  words(texts: readonly string[]): Term;
  multiple(step: number): Term;
  concat(parts: readonly Term[]): Term;
  or(parts: readonly Term[]): Term;
  and(parts: readonly Term[]): Term;
  not(of: Term): Term;
  repeat(of: Term, min: number, max: number): Term;
  optional(of: Term): Term;
  derive(term: Term, byte: number): Term;
  /** Whether the language contains a word. If the search reaches its bounds, the answer is no. */
  isAlive(term: Term): boolean;
  /** The number of words, at most `most`. */
  count(term: Term, most: number): number;
  matches(term: Term, text: Uint8Array): boolean;
  /** Counts work: throws TooComplex if it exceeds what the last call of `allow` permitted. */
  spend(units: number): void;
  allow(units: number, compiling: boolean): void;
  /** What remains of the work that the last call of `allow` permitted. */
  readonly left: number;
  /** Terms made so far. */
  readonly size: number;
  /** How often terms were forgotten. */
  readonly forgotten: number;
  /** Makes room. Terms in use stay valid: equal ones that are made again later only repeat work. */
  forget(): void;
}

/** Whether the shape contains no `and` or `not`. */
export function plainness(shape: Shape): boolean {
  switch (shape.kind) {
    case 'and':
    case 'not':
      return false;
    case 'or':
      return shape.parts.every((part) => part.isPlain);
    case 'concat':
      return shape.first.isPlain && shape.rest.isPlain;
    case 'repeat':
      return shape.of.isPlain;
    case 'none':
    case 'empty':
    case 'bytes':
    case 'words':
    case 'multiple':
      return true;
  }
}
