// Values as a recogniser reads them: scalars as one term, and for each alternative that objects or arrays may follow, its shape,
// where every key and every position has an obligation of its own.
import type { Term } from '../lexemes/terms.ts';
import type { Lit } from './literals.ts';

/** Schemas that hold of one value, together. Equal ones are one object. */
export interface Obligation {
  readonly id: number;
  readonly lits: readonly Lit[];
  /** Null: not looked at yet. */
  form: ValueForm | null;
  /** Whether some finite value satisfies it. False until it is known. */
  possible: boolean;
}

export interface ValueForm {
  /** What stands between the quotes of a string. */
  readonly strings: Term;
  /** All scalars, quotes included. */
  readonly scalars: Term;
  readonly objects: readonly ObjectShape[];
  readonly arrays: readonly ArrayShape[];
}

export interface NamedKey {
  readonly name: string;
  readonly index: number;
  readonly value: Obligation;
  /** Keys that must be there if this one is. */
  readonly needs: readonly number[];
  readonly required: boolean;
}

/** Keys that nobody named, and that the same schemas describe. */
export interface KeyClass {
  readonly key: Term;
  readonly value: Obligation;
  /** How many keys there are, as far as it matters. */
  readonly size: number;
}

export interface ObjectShape {
  readonly kind: 'object';
  readonly id: number;
  readonly keys: readonly NamedKey[];
  readonly classes: readonly KeyClass[];
  readonly min: number;
  readonly max: number;
  /** Bytes of the keys, closing quotes included, sorted; in the order of `sorted` indices. */
  readonly texts: readonly Uint8Array[];
  readonly sorted: readonly number[];
  /** Keys of classes count: the same one may come twice. */
  readonly counts: boolean;
}

/** One way to go on with an item: what it is, and which of the contained it counts for. */
export interface ItemChoice {
  readonly value: Obligation;
  readonly counted: readonly number[];
}

export interface ArrayShape {
  readonly kind: 'array';
  readonly id: number;
  /** By position; the last for all that follow. */
  readonly items: readonly (readonly ItemChoice[])[];
  readonly min: number;
  readonly max: number;
  readonly contained: readonly { readonly min: number; readonly max: number }[];
  /** Null: items may be equal. `key`: objects differ in it; null: items are scalars. */
  readonly unique: { readonly key: string | null } | null;
}
