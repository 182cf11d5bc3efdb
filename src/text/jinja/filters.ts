// The filters that templates may use, by name. A filter that is not here is refused when a template is loaded.
import type { Filter } from './filter.ts';
import { LIST_FILTERS } from './filter-lists.ts';
import { TEXT_FILTERS } from './filter-texts.ts';

/** Filters of Jinja whose text depends on chance or on a library for HTML. */
export const UNSUPPORTED = new Set(['pprint', 'random', 'striptags', 'urlize', 'wordwrap']);

export const FILTERS: Readonly<Record<string, Filter>> = { ...LIST_FILTERS, ...TEXT_FILTERS };
