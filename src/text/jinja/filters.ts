// The filters that templates may use, by name. A filter that is not here is refused when a template is loaded.
import type { Budget } from './budget.ts';
import { LIST_FILTERS } from './filter-lists.ts';
import { TEXT_FILTERS } from './filter-texts.ts';
import type { Given } from './parameters.ts';
import type { Value } from './values.ts';

export interface FilterContext {
  readonly budget: Budget;
  /** Another filter or a test, by name: `map('upper')`, `select('odd')`. Throws if there is none. */
  readonly filter: (name: string, value: Value, given: Given) => Value;
  readonly test: (name: string, value: Value, given: Given) => boolean;
}

export type Filter = (value: Value, given: Given, context: FilterContext) => Value;

export const FILTERS: Readonly<Record<string, Filter>> = { ...LIST_FILTERS, ...TEXT_FILTERS };
