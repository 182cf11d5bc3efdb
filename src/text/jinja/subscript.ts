// `object.name`, `object[key]` and `object[a:b]` in Jinja's immutable sandbox: an attribute, else an item, else undefined.
import type { Budget } from './budget.ts';
import { TemplateError } from './errors.ts';
import { formatBraces } from './brace-format.ts';
import { bound, methodOf } from './methods.ts';
import { repr } from './texts.ts';
import {
  asCount,
  Callable,
  characters,
  Dict,
  Group,
  isInteger,
  Namespace,
  Range,
  Tuple,
  typeName,
  Undefined,
  View,
  type Value,
} from './values.ts';

/** `object.name` */
export function attributeOf(object: Value, name: string, budget: Budget): Value {
  const attribute = ownAttribute(object, name, budget);
  const value = attribute === undefined ? itemIfAny(object, name) : attribute;
  return value === undefined ? missing(object, name, budget) : value;
}

/** `object[key]` */
export function itemOf(object: Value, key: Value, budget: Budget): Value {
  const item = itemIfAny(object, key);
  const value = item === undefined && typeof key === 'string' ? ownAttribute(object, key, budget) : item;
  return value === undefined ? missing(object, key, budget) : value;
}

function ownAttribute(object: Value, name: string, budget: Budget): Value | undefined {
  if (object instanceof Undefined) object.fail();
  if (object instanceof Namespace) return object.attributes.get(name);
  if (object instanceof Callable) return object.attribute(name);
  if (object instanceof Group && (name === 'grouper' || name === 'list')) return object[name];
  if (typeof object === 'string' && (name === 'format' || name === 'format_map'))
    return formatter(object, name, budget);
  return methodOf(object, name, budget);
}

/** `'…'.format(…)`, which reads attributes and items of its arguments. */
function formatter(text: string, name: 'format' | 'format_map', budget: Budget): Callable {
  const fields = {
    item: (object: Value, key: Value) => itemOf(object, key, budget),
    attribute: (object: Value, attribute: string) => attributeOf(object, attribute, budget),
  };
  return bound(name, ({ positional, named }) => {
    if (name === 'format') return formatBraces(text, { ...fields, positional, named: (key) => named.get(key) }, budget);
    const [map] = positional;
    if (!(map instanceof Dict)) throw new TemplateError('format_map() needs a dict');
    return formatBraces(text, { ...fields, positional: [], named: (key) => map.get(key) }, budget);
  });
}

/** Undefined: there is no such item, or the object has no items. */
function itemIfAny(object: Value, key: Value): Value | undefined {
  if (object instanceof Undefined) object.fail();
  if (object instanceof Dict) {
    try {
      return object.get(key);
    } catch {
      return undefined; // an unhashable key
    }
  }
  if (!isInteger(key)) return undefined;
  const items =
    typeof object === 'string'
      ? characters(object)
      : Array.isArray(object)
        ? object
        : object instanceof Tuple || object instanceof Range
          ? object.items
          : null;
  if (items === null) return undefined;
  const index = Number(key);
  return items[index < 0 ? items.length + index : index];
}

function missing(object: Value, key: Value, budget: Budget): Undefined {
  if (typeof key !== 'string') return new Undefined(`${typeName(object)} object has no element ${repr(key, budget)}`);
  return new Undefined(`'${typeName(object)} object' has no attribute '${key}'`);
}

type Bound = Value | undefined;

export function sliceOf(object: Value, start: Bound, stop: Bound, step: Bound, budget: Budget): Value {
  if (object instanceof Undefined) object.fail();
  const stride = step === undefined || step === null ? 1 : asCount(step);
  if (stride === 0) throw new TemplateError('slice step cannot be zero');
  const cut = <T>(items: ArrayLike<T>): T[] => {
    const found: T[] = [];
    const [from, to] = bounds(items.length, start, stop, stride);
    budget.make(Math.max(0, Math.ceil((to - from) / stride)));
    for (let at = from; stride > 0 ? at < to : at > to; at += stride) found.push(items[at]!);
    return found;
  };
  if (typeof object === 'string') {
    const units = characters(object);
    if (typeof units !== 'string' || stride !== 1) return cut(units).join('');
    const [from, to] = bounds(units.length, start, stop, 1);
    return budget.made(units.slice(from, Math.max(from, to)));
  }
  if (Array.isArray(object)) return cut(object);
  if (object instanceof Tuple) return new Tuple(cut(object.items));
  if (object instanceof Range) {
    const [from, to] = bounds(object.items.length, start, stop, stride);
    const at = (index: number) => object.start + index * object.step;
    return new Range(at(from), at(to), object.step * stride);
  }
  throw new TemplateError(
    object instanceof View || object instanceof Dict
      ? 'unhashable type: slice'
      : `'${typeName(object)}' object is not subscriptable`,
  );
}

/** As Python's `slice.indices`. */
function bounds(length: number, start: Bound, stop: Bound, step: number): [number, number] {
  const clip = (value: Bound, otherwise: number): number => {
    if (value === undefined || value === null) return otherwise;
    const at = asCount(value);
    const [low, high] = step > 0 ? [0, length] : [-1, length - 1];
    return Math.min(Math.max(at < 0 ? at + length : at, low), high);
  };
  return step > 0 ? [clip(start, 0), clip(stop, length)] : [clip(start, length - 1), clip(stop, -1)];
}
