// Filters of sequences: select, map, sort, group, and what else takes items and gives items.
import { isEqual, compare } from './compare.ts';
import { TemplateError } from './errors.ts';
import type { Filter, FilterContext } from './filter.ts';
import { bind, type Given } from './parameters.ts';
import { attributeOf, itemOf } from './subscript.ts';
import { str } from './texts.ts';
import { binary } from './arithmetic.ts';
import {
  asCount,
  characters,
  Dict,
  found,
  Generated,
  Group,
  isTrue,
  itemsOf,
  Tuple,
  typeName,
  Undefined,
  View,
  type Value,
} from './values.ts';

/** `a.b.0` and numbers, as `map(attribute=…)` and `sort(attribute=…)` read them. */
function reader(attribute: Value, { budget }: FilterContext, otherwise?: Value): (item: Value) => Value {
  const parts =
    typeof attribute === 'string'
      ? attribute.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
      : [attribute];
  return (item) => {
    budget.step(parts.length);
    let value = item;
    for (const part of parts) {
      value = readItem(value, part, budget);
      if (value instanceof Undefined && otherwise !== undefined) value = otherwise;
    }
    return value;
  };
}

/** `environment.getitem`: an item, else an attribute. */
const readItem = (value: Value, part: Value, budget: FilterContext['budget']): Value => itemOf(value, part, budget);

const folded = (value: Value): Value => (typeof value === 'string' ? value.toLowerCase() : value);

/** The key by which items are compared. */
function keyOf(attribute: Value | undefined, isCaseSensitive: boolean, context: FilterContext): (item: Value) => Value {
  const read = attribute === undefined || attribute === null ? (item: Value) => item : reader(attribute, context);
  return isCaseSensitive ? read : (item) => folded(read(item));
}

function sorted(
  items: readonly Value[],
  key: (item: Value) => Value,
  isReversed: boolean,
  { budget }: FilterContext,
): Value[] {
  budget.make(items.length);
  budget.step(items.length * Math.ceil(Math.log2(items.length + 1)));
  const keyed = items.map((item) => ({ item, key: key(item) }));
  keyed.sort((a, b) => (isReversed ? -1 : 1) * (compare(a.key, b.key, budget) || 0));
  return keyed.map(({ item }) => item);
}

const sort: Filter = (value, given, context) => {
  const [reverse = false, isCaseSensitive = false, attribute] = bind(
    'sort',
    ['reverse', 'case_sensitive', 'attribute'],
    given,
  );
  const items = itemsOf(value);
  const names = typeof attribute === 'string' ? attribute.split(',') : [attribute];
  const keys = names.map((name) => keyOf(name, isTrue(isCaseSensitive), context));
  // A list even for one key: in Python equal items of lists need no order, so `[none, none] | sort` is one.
  const key = (item: Value): Value => keys.map((each) => each(item));
  return sorted(items, key, isTrue(reverse), context);
};

const dictsort: Filter = (value, given, context) => {
  const names = ['case_sensitive', 'by', 'reverse'];
  const [isCaseSensitive = false, by = 'key', reverse = false] = bind('dictsort', names, given);
  if (by !== 'key' && by !== 'value') throw new TemplateError('You can only sort by either "key" or "value"');
  if (!(value instanceof Dict)) throw new TemplateError(`'${typeName(value)}' object has no attribute 'items'`);
  const at = by === 'key' ? 0 : 1;
  const items = value.entries().map((entry) => new Tuple(entry));
  const key = (item: Value) =>
    isTrue(isCaseSensitive) ? (item as Tuple).items[at]! : folded((item as Tuple).items[at]!);
  return sorted(items, key, isTrue(reverse), context);
};

const unique: Filter = (value, given, context) => {
  const [isCaseSensitive = false, attribute] = bind('unique', ['case_sensitive', 'attribute'], given);
  const key = keyOf(attribute, isTrue(isCaseSensitive), context);
  return new Generated(() => {
    const seen = new Dict();
    return itemsOf(value).filter((item) => {
      const own = key(item);
      if (seen.has(own)) return false;
      seen.set(own, true);
      return true;
    });
  });
};

const extreme =
  (name: string, sign: number): Filter =>
  (value, given, context) => {
    const [isCaseSensitive = false, attribute] = bind(name, ['case_sensitive', 'attribute'], given);
    const key = keyOf(attribute, isTrue(isCaseSensitive), context);
    let best: { item: Value; key: Value } | null = null;
    for (const item of itemsOf(value)) {
      const own = key(item);
      if (best === null || compare(own, best.key, context.budget) * sign > 0) best = { item, key: own };
    }
    return best === null ? new Undefined('No aggregated item, sequence was empty.') : best.item;
  };

const sum: Filter = (value, given, context) => {
  const [attribute, start = 0] = bind('sum', ['attribute', 'start'], given);
  const read = attribute === undefined || attribute === null ? (item: Value) => item : reader(attribute, context);
  return itemsOf(value).reduce<Value>((total, item) => binary('+', total, read(item), context.budget), start);
};

const groupby: Filter = (value, given, context) => {
  const [attribute, otherwise, isCaseSensitive = false] = bind(
    'groupby',
    ['attribute', 'default', 'case_sensitive'],
    given,
    1,
  );
  const read = reader(attribute!, context, otherwise);
  const key = (item: Value) => (isTrue(isCaseSensitive) ? read(item) : folded(read(item)));
  const groups: { key: Value; items: Value[] }[] = [];
  for (const item of sorted(itemsOf(value), key, false, context)) {
    const own = key(item);
    const last = groups.at(-1);
    if (last && isEqual(last.key, own, context.budget)) last.items.push(item);
    else groups.push({ key: own, items: [item] });
  }
  return groups.map(({ items }) => new Group(read(items[0]!), items));
};

const batch: Filter = (value, given, { budget }) => {
  const [count, fill = null] = bind('batch', ['linecount', 'fill_with'], given, 1);
  return new Generated(() => {
    const size = asCount(count!);
    const rows: Value[][] = [];
    for (const item of itemsOf(value)) {
      if (rows.length === 0 || rows.at(-1)!.length === size) rows.push([]);
      rows.at(-1)!.push(item);
    }
    const last = rows.at(-1);
    if (fill !== null && last && last.length < size) {
      budget.make(size);
      while (last.length < size) last.push(fill);
    }
    return rows;
  });
};

const slice: Filter = (value, given, { budget }) => {
  const [count, fill = null] = bind('slice', ['slices', 'fill_with'], given, 1);
  return new Generated(() => {
    const items = itemsOf(value);
    const slices = asCount(count!);
    budget.make(Math.max(0, slices));
    if (slices === 0) throw new TemplateError('integer division or modulo by zero');
    const [each, more] = [Math.floor(items.length / slices), items.length % slices];
    return Array.from({ length: Math.max(0, slices) }, (_, i): Value[] => {
      const from = i * each + Math.min(i, more);
      const row = items.slice(from, from + each + (i < more ? 1 : 0));
      return fill !== null && i >= more ? [...row, fill] : [...row]; // also where all are full, as in Jinja
    });
  });
};

/** `select('test', …)` and `selectattr('name', 'test', …)`. */
const select =
  (isWanted: boolean, withAttribute: boolean): Filter =>
  (value, { positional, named }, context) => {
    if (withAttribute && positional.length === 0) throw new TemplateError('Missing parameter for attribute name');
    const read = withAttribute ? reader(positional[0]!, context) : (item: Value) => item;
    const [name, ...args] = withAttribute ? positional.slice(1) : positional;
    const test =
      name === undefined ? isTrue : (item: Value) => context.test(testName(name), item, { positional: args, named });
    return new Generated(() => {
      const items = isTrue(value) ? itemsOf(value) : [];
      context.budget.make(items.length);
      return items.filter((item) => test(read(item)) === isWanted);
    });
  };

const testName = (name: Value): string => {
  if (typeof name === 'string') return name;
  throw new TemplateError(`No test named ${typeName(name)}.`);
};

const map: Filter = (value, given, context) => {
  return new Generated(() => {
    const items = isTrue(value) ? itemsOf(value) : [];
    context.budget.make(items.length);
    return items.map(mapping(given, context));
  });
};

function mapping({ positional, named }: Given, context: FilterContext): (item: Value) => Value {
  if (positional.length === 0 && named.has('attribute')) {
    for (const name of named.keys())
      if (name !== 'attribute' && name !== 'default') throw new TemplateError(`Unexpected keyword argument '${name}'`);
    return reader(named.get('attribute')!, context, named.get('default'));
  }
  const [name, ...args] = positional;
  if (typeof name !== 'string') throw new TemplateError('map requires a filter argument');
  return (item) => context.filter(name, item, { positional: args, named });
}

const first: Filter = (value, given) => {
  bind('first', [], given);
  if (value instanceof Generated) return found(value.takeOne(), 'No first item, sequence was empty.');
  return found(itemsOf(value)[0], 'No first item, sequence was empty.');
};

const last: Filter = (value, given) => {
  bind('last', [], given);
  if (value instanceof Generated) throw new TemplateError("'generator' object is not reversible");
  return found(itemsOf(value).at(-1), 'No last item, sequence was empty.');
};

const reverse: Filter = (value, given, { budget }) => {
  bind('reverse', [], given);
  if (typeof value === 'string') return [...characters(budget.made(value))].reverse().join('');
  const items = itemsOf(value);
  budget.make(items.length);
  return new Generated(() => items.toReversed());
};

const list: Filter = (value, given, { budget }) => {
  bind('list', [], given);
  const items = itemsOf(value);
  budget.make(items.length);
  return [...items];
};

const items: Filter = (value, given) => {
  bind('items', [], given);
  return new Generated(() => {
    if (value instanceof Undefined) return [];
    if (!(value instanceof Dict)) throw new TemplateError('Can only get item pairs from a mapping.');
    return new View('dict_items', value).items();
  });
};

const attr: Filter = (value, given, { budget }) => {
  const [named] = bind('attr', ['name'], given, 1);
  const name = str(named!, budget);
  if (value instanceof Dict || Array.isArray(value)) {
    const own = attributeOf(value instanceof Dict ? new Dict() : [], name, budget);
    return own instanceof Undefined ? own : attributeOf(value, name, budget);
  }
  return attributeOf(value, name, budget);
};

export const LIST_FILTERS: Readonly<Record<string, Filter>> = {
  attr,
  batch,
  dictsort,
  first,
  groupby,
  items,
  last,
  list,
  map,
  max: extreme('max', 1),
  min: extreme('min', -1),
  reject: select(false, false),
  rejectattr: select(false, true),
  reverse,
  select: select(true, false),
  selectattr: select(true, true),
  slice,
  sort,
  sum,
  unique,
};
