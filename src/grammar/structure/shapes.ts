// Values as the recogniser reads them: scalars as one term, and a shape for each alternative of an object or array, in which every
// key and every position has its own obligation.
import type { Term } from '../lexemes/terms.ts';
import type { Lit } from './literals.ts';

/** Schemas that must all hold for one value. Equal obligations are one object. */
export interface Obligation {
  readonly id: number;
  readonly lits: readonly Lit[];
  /** Null: not yet computed. */
  form: ValueForm | null;
  /** Whether some finite value satisfies it. False until known. */
  possible: boolean;
}

export interface ValueForm {
  /** The characters between the quotes of a string. */
  readonly strings: Term;
  /** All scalars, including quotes. */
  readonly scalars: Term;
  readonly objects: readonly ObjectShape[];
  readonly arrays: readonly ArrayShape[];
}

export interface NamedKey {
  readonly name: string;
  readonly index: number;
  readonly value: Obligation;
  /** Keys that must be present if this one is. */
  readonly needs: readonly number[];
  readonly required: boolean;
}

/** Keys that the schema does not name and that the same schemas describe. */
export interface KeyClass {
  readonly key: Term;
  readonly value: Obligation;
  /** The number of such keys, counted as far as it matters. */
  readonly size: number;
}

export interface ObjectShape {
  readonly kind: 'object';
  readonly id: number;
  readonly keys: readonly NamedKey[];
  readonly classes: readonly KeyClass[];
  readonly min: number;
  readonly max: number;
  /** The bytes of the keys with their closing quotes, sorted; parallel to `sorted`, which has the indices. */
  readonly texts: readonly Uint8Array[];
  readonly sorted: readonly number[];
  /** Whether the number of keys matters: then distinct keys of classes are counted. */
  readonly counts: boolean;
}

/** One option for an item: what it is, and which `contains` it counts for. */
export interface ItemChoice {
  readonly value: Obligation;
  readonly counted: readonly number[];
}

export interface ArrayShape {
  readonly kind: 'array';
  readonly id: number;
  /** By position; the last one applies to all further items. */
  readonly items: readonly (readonly ItemChoice[])[];
  readonly min: number;
  readonly max: number;
  readonly contained: readonly { readonly min: number; readonly max: number }[];
  /** Null: items may be equal. `key`: items are objects that differ in this key; a null key: items are scalars. `place`: of the keyword. */
  readonly unique: { readonly key: string | null; readonly place: string } | null;
}
