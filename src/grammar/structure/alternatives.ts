// What a value must be, as one of several alternatives that contain no choices: everything that the schemas say about it, joined
// keyword by keyword. Alternatives grow by one schema or one negation at a time; those that no value can satisfy are dropped early.
import { ANY_NUMBER, tighterHigh, tighterLow, type JsonNumber, type NumberSpec } from '../lexemes/numbers.ts';
import type { Term } from '../lexemes/terms.ts';
import type { Lit } from './literals.ts';

export const TYPES = { null: 1, boolean: 2, number: 4, string: 8, object: 16, array: 32 } as const;
export const ALL_TYPES = 63;

/** The numbers of the unevaluated* keywords that take this location into account. */
export type Owners = readonly number[];

export interface ObjectLayer {
  readonly properties: ReadonlyMap<string, Lit>;
  readonly patterns: readonly { readonly key: Term; readonly lit: Lit }[];
  /** For keys that neither of them covers; null: nothing is said about them. */
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
  /** Two bits: false, true. */
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
  /** The place of the keyword that wants unique items. */
  unique: string | null = null;
  unevaluatedItems: { readonly lit: Lit; readonly owner: number }[] = [];

  /** Whether some schema named properties and said nothing about other properties. */
  named = false;
  open = false;
  done = new Set<string>();
  /** Made only to find contradictions: constraints that are narrower than the specification do not count. */
  isTrial = false;

  /** The cost of a copy, in units of work. */
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

  without(types: number): void {
    this.types &= ~types;
  }

  bound(value: JsonNumber, inclusive: boolean, isLow: boolean): void {
    const { low, high } = this.number;
    const limit = { value, inclusive };
    this.number = { ...this.number, ...(isLow ? { low: tighterLow(low, limit) } : { high: tighterHigh(high, limit) }) };
  }

  atLeast(limit: 'minLength' | 'minProperties' | 'minItems', count: number): void {
    this[limit] = Math.max(this[limit], count);
  }

  atMost(limit: 'maxLength' | 'maxProperties' | 'maxItems', count: number): void {
    this[limit] = Math.min(this[limit], count);
  }

  excludeMultiples(step: JsonNumber): void {
    this.number = { ...this.number, notMultiples: [...this.number.notMultiples, step] };
  }

  integer(is: boolean): void {
    if (this.number.integer === !is) this.without(TYPES.number);
    this.number = { ...this.number, integer: is };
  }

  forbid(name: string, never: Lit): void {
    this.property(name, never);
  }

  /** The property must be there, and be this. */
  require(name: string, lit: Lit): void {
    this.required.add(name);
    this.property(name, lit);
  }

  private property(name: string, lit: Lit): void {
    this.objects.push({ properties: new Map([[name, lit]]), patterns: [], additional: null, owners: [] });
  }
}
