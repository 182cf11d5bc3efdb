// What a filter is.
import type { Budget } from './budget.ts';
import type { Given } from './parameters.ts';
import type { Value } from './values.ts';

export interface FilterContext {
  readonly budget: Budget;
  /** Another filter or a test, by name: `map('upper')`, `select('odd')`. Throws if there is none. */
  readonly filter: (name: string, value: Value, given: Given) => Value;
  readonly test: (name: string, value: Value, given: Given) => boolean;
}

export type Filter = (value: Value, given: Given, context: FilterContext) => Value;
