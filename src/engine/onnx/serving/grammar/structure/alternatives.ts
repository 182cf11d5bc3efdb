// What a value must be, as one of several alternatives without choices in them: everything that schemas say of it, joined keyword
// by keyword. Alternatives grow by one schema or one negation at a time, and those that nothing can satisfy are left out on the way.
import { ANY_NUMBER, tighterHigh, tighterLow, type JsonNumber, type NumberSpec } from '../lexemes/numbers.ts';
import type { Term } from '../lexemes/terms.ts';
import type { Lit } from './literals.ts';

export const TYPES = { null: 1, boolean: 2, number: 4, string: 8, object: 16, array: 32 } as const;
export const ALL_TYPES = 63;

/** The unevaluated* keywords that look into a place, by number. */
export type Owners = readonly number[];

export interface ObjectLayer {
  readonly properties: ReadonlyMap<string, Lit>;
  readonly patterns: readonly { readonly key: Term; readonly lit: Lit }[];
  /** Of the keys that neither of them names; null: nothing is said. */
  readonly additional: Lit | null;
  readonly owners: Owners;
}

export interface ArrayLayer {
  readonly prefix: readonly Lit[];
  readonly rest: Lit | null;
  readonly owners: Owners;
}

export interface Contained {
  readonly lit: Lit;
  readonly opposite: Lit;
  readonly min: number;
  readonly max: number;
}

export class Alternative {
  types = ALL_TYPES;
  /** Bits: false, true. */
  booleans = 3;
  strings: Term[] = [];
  minLength = 0;
  maxLength = Infinity;
  number: NumberSpec = ANY_NUMBER;
  values: readonly unknown[] | null = null;
  notStrings: string[] = [];

  objects: ObjectLayer[] = [];
  required = new Set<string>();
  minProperties = 0;
  maxProperties = Infinity;
  names: Lit[] = [];
  dependent = new Map<string, Set<string>>();
  unevaluatedProperties: { readonly lit: Lit; readonly owner: number }[] = [];

  arrays: ArrayLayer[] = [];
  minItems = 0;
  maxItems = Infinity;
  contains: Contained[] = [];
  unique = false;
  unevaluatedItems: { readonly lit: Lit; readonly owner: number }[] = [];

  /** Whether some schema said which properties there are, and of the others nothing. */
  named = false;
  open = false;
  done = new Set<string>();
  /** Made to see what cannot hold: what is kept to more narrowly than the specification says does not count. */
  isTrial = false;

  /** What a copy costs, in the units of terms. */
  get size(): number {
    return 20 + this.objects.length + this.required.size + this.done.size + this.arrays.length + this.strings.length;
  }

  clone(): Alternative {
    const copy = Object.assign(new Alternative(), this);
    copy.strings = [...this.strings];
    copy.notStrings = [...this.notStrings];
    copy.objects = [...this.objects];
    copy.required = new Set(this.required);
    copy.names = [...this.names];
    copy.dependent = new Map(this.dependent);
    copy.unevaluatedProperties = [...this.unevaluatedProperties];
    copy.arrays = [...this.arrays];
    copy.contains = [...this.contains];
    copy.unevaluatedItems = [...this.unevaluatedItems];
    copy.done = new Set(this.done);
    return copy;
  }

  only(types: number): void {
    this.types &= types;
  }

  bound(value: JsonNumber, inclusive: boolean, isLow: boolean): void {
    const { low, high } = this.number;
    const limit = { value, inclusive };
    this.number = { ...this.number, ...(isLow ? { low: tighterLow(low, limit) } : { high: tighterHigh(high, limit) }) };
  }

  integer(is: boolean): void {
    if (this.number.integer === !is) this.types &= ~TYPES.number;
    this.number = { ...this.number, integer: is };
  }

  forbid(name: string, never: Lit): void {
    this.objects.push({ properties: new Map([[name, never]]), patterns: [], additional: null, owners: [] });
  }
}
