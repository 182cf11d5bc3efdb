// The types of terms for code that makes and uses them; terms.ts makes them.

/** What follows any character of a class. `isWhole`: no word of the term ends within such a character, behind some of its bytes. */
export interface ByClass {
  readonly next: Term;
  readonly isWhole: boolean;
}

export type Term = {
  readonly id: number;
  readonly nullable: boolean;
  /** By byte class: the derivative, as far as somebody asked. */
  next: (Term | undefined)[] | null;
  /** By class of characters (masks/class-derivatives.ts), as far as somebody asked; null where they are not alike. */
  classes: (ByClass | null | undefined)[] | null;
  /** Without and and not: it has a word wherever it is not `none`. */
  readonly isPlain: boolean;
  /** Whether the language has a word; null: nobody looked. */
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
  /** `words[from … to)`, sorted, behind their first `depth` bytes, which are equal. */
  | { readonly kind: 'words'; readonly words: WordList; readonly from: number; readonly to: number; readonly depth: number }
  /** Decimal digits that make a multiple of `step`, behind digits that left this remainder; -1: there were none. */
  | { readonly kind: 'multiple'; readonly step: number; readonly remainder: number }; // prettier-ignore

/** One bit per byte. */
export type ByteSet = readonly number[];

export interface WordList {
  readonly id: number;
  readonly sorted: readonly Uint8Array[];
}

/** The work of one grammar is counted, in terms made and derivatives taken. */
export class TooComplex extends Error {}

/** What is remembered of all texts fills the room there is; one text alone may well find enough. */
export class OutOfRoom extends TooComplex {}

export interface Terms {
  readonly none: Term;
  readonly empty: Term;
  /** Every word. */
  readonly all: Term;
  bytes(from: number, to: number): Term;
  word(text: string | Uint8Array): Term;
  words(texts: readonly string[]): Term;
  multiple(step: number): Term;
  concat(...parts: readonly Term[]): Term;
  or(parts: readonly Term[]): Term;
  and(parts: readonly Term[]): Term;
  not(of: Term): Term;
  repeat(of: Term, min: number, max: number): Term;
  optional(of: Term): Term;
  derive(term: Term, byte: number): Term;
  /** Whether the language has a word. What the bounds leave undecided counts as empty. */
  isAlive(term: Term): boolean;
  /** The number of words, as far as `most`. */
  count(term: Term, most: number): number;
  matches(term: Term, text: Uint8Array): boolean;
  /** Counts work: throws TooComplex where more was done than `allow` said last. */
  spend(units: number): void;
  allow(units: number, compiling: boolean): void;
  /** Of what `allow` said last. */
  readonly left: number;
  /** Terms made so far. */
  readonly size: number;
  readonly sizeMax: number;
}

/** Without and and not in it. */
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
