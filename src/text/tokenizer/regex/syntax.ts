// The parts of a regular expression, as its parser gives them to the compiler.
import type { CharacterSet } from './character-set.ts';

export type Assertion =
  'line start' | 'line end' | 'text start' | 'text end' | 'last line end' | 'word edge' | 'no edge';

export type Node =
  | { readonly kind: 'set'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'either'; readonly options: readonly Node[] }
  | {
      readonly kind: 'repeat';
      readonly part: Node;
      readonly min: number;
      readonly max: number;
      readonly how: 'greedy' | 'lazy' | 'possessive';
    }
  | { readonly kind: 'look'; readonly part: Node; readonly behind: boolean; readonly negative: boolean }
  | { readonly kind: 'atomic'; readonly part: Node }
  | { readonly kind: 'assert'; readonly what: Assertion };

/** An expression that is wrong, or has something that is not supported; the message is the rest of a sentence. */
export class RegexError extends Error {}
