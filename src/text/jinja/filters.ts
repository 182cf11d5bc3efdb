// The filters that templates may use, by name. A filter that is not here is refused when a template is loaded.
import type { Filter } from './filter.ts';
import { LIST_FILTERS } from './filter-lists.ts';
import { TEXT_FILTERS } from './filter-texts.ts';

export const FILTERS: Readonly<Record<string, Filter>> = { ...LIST_FILTERS, ...TEXT_FILTERS };
